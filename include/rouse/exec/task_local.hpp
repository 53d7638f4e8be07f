// TaskLocal<T>: a value that belongs to a piece of asynchronous work instead of a thread.
//
//   inline rouse::TaskLocal<int> request_id;
//
//   co_await request_id.scope(42, handle(request));   // in handle: request_id.get() == 42
//
// The value is visible while the future that `scope` returns is polled or destroyed, on whichever
// thread; scopes nest, and the innermost wins. A task that is spawned inside does not inherit it:
// give it a scope of its own. Children of `parallel` and `scope` do: they all see the values at the
// fork (`scope`: at its beginning), on whichever thread and however their parent is polled later.
// (Without an executor, and where nothing was set, children that stay in their parent's poll see
// what the parent sees.)
//
// How: each thread has a list of the scopes it is in, which alone says what is set. Its nodes are
// reference-counted and never change once somebody else may see them. So work that continues
// elsewhere takes the list along by holding a reference to its first node, whoever else is gone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/exec/internal/task_local_node.hpp"

namespace rouse {

/// What `TaskLocal::scope` gives.
template <class T, Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]]
TaskLocalFuture {
 public:
  using Output = output_t<F>;

  template <class G>
  TaskLocalFuture(const void* key, T&& value, G&& future)
      : node_(make_ref<internal::TaskLocalValue<T>>(key, std::move(value))),
        future_(std::in_place, std::forward<G>(future)) {}
  TaskLocalFuture(TaskLocalFuture&&) = default;
  TaskLocalFuture& operator=(TaskLocalFuture&&) = delete;
  ~TaskLocalFuture() {
    if (node_) internal::drop_in_scope(*node_, [this] { future_.reset(); });
  }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TaskLocalFuture, nullptr, one, &TaskLocalFuture::future_)
  Poll<Output> poll(Context& cx) {
    polled_.set_polled();
    const internal::TaskLocalPoll in_scope(node_);
    return (*future_).poll(cx);
  }

  /// Whether the future borrows: see Async::borrows. The value is not checked.
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(*future_); }

 private:
  RefPtr<internal::TaskLocalNode> node_;  // null if this was moved from
  internal::Maybe<F> future_;             // optional, so that it can end inside the scope
  [[no_unique_address]] internal::MovableUntilPolled polled_;
};

template <class T>
class TaskLocal {
  static_assert(std::same_as<T, std::decay_t<T>>,
                "TaskLocal<T> keeps a value: T is neither a reference nor const");

 public:
  constexpr TaskLocal() noexcept {}
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  /// A future that runs `future` with the value set. Completes when `future` does, and throws what
  /// it throws.
  /// Cancel safety: dropping it drops `future` while the value is still visible.
  /// Threads: may be polled on one thread after another.
  template <class F>
  auto scope(T value, F&& future) const {
    using Kept = std::remove_cvref_t<F>;
    static_assert(Future<Kept>,
                  "TaskLocal::scope needs a future: did you pass a function instead of calling it? "
                  "write scope(value, f()), or sync_scope(value, fn) for a plain function");
    constexpr bool can_keep = std::constructible_from<Kept, F>;
    static_assert(!Future<Kept> || can_keep,
                  "TaskLocal::scope keeps its future by value and this one can't be copied: write "
                  "scope(value, std::move(f))");
    if constexpr (Future<Kept> && can_keep) {
      return TaskLocalFuture<T, Kept>(this, std::move(value), std::forward<F>(future));
    }
  }

  /// Calls `fn()` with the value set.
  template <class Fn>
  decltype(auto) sync_scope(T value, Fn&& fn) const {
    static_assert(std::invocable<Fn>, "sync_scope needs a function that takes no arguments");
    static_assert(!Future<std::remove_cvref_t<std::invoke_result_t<Fn>>>,
                  "sync_scope ends when the function returns, before its future is polled: write "
                  "co_await scope(value, fn())");
    const auto node = make_ref<internal::TaskLocalValue<T>>(this, std::move(value));
    static_cast<void>(node->try_put_before(internal::task_locals()));  // it is this one's alone
    const internal::TaskLocalsScope in_scope(node.get());
    return internal::invoke(std::forward<Fn>(fn));
  }

  /// The value of the innermost scope; null outside of any. Valid until that scope ends.
  [[nodiscard]] const T* try_get() const noexcept {
    return static_cast<const T*>(internal::find_task_local(this));
  }
  /// The same where there must be one: aborts with a message outside of any scope.
  [[nodiscard]] const T& get() const noexcept {
    const T* value = try_get();
    ROUSE_ASSERT(value,
                 "TaskLocal::get where no value is set: run this inside scope(value, future) or "
                 "sync_scope(value, fn) (a spawned task does not inherit the value), or ask "
                 "try_get()");
    return *value;
  }
  /// Returns `fn(value)`.
  template <class Fn>
  decltype(auto) with(Fn&& fn) const {
    static_assert(std::invocable<Fn, const T&>, "with needs a function that takes a const T&");
    return internal::invoke(std::forward<Fn>(fn), get());
  }
};

}  // namespace rouse
