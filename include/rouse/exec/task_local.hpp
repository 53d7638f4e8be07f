// TaskLocal<T>: a value that belongs to a piece of asynchronous work instead of a thread.
//
//   inline rouse::TaskLocal<int> request_id;
//
//   co_await request_id.scope(42, handle(request));   // in handle: request_id.get() == 42
//
// The value lives in the future that `scope` gives, and is seen while that future is polled or
// destroyed, on whichever thread; scopes nest, and the innermost wins. A task that is spawned
// inside does not inherit it: give it a scope of its own. Children of `parallel` and `scope` do.
//
// How: each thread has a list of the scopes it is in. A scope's node is in its future; each poll
// puts it in front and takes it off again. The Context carries the list too: children of `parallel`
// and `scope` that go on on another thread take it along.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"

namespace rouse {

/// One scope, in the list of a thread. It stays where it is from the first `in_front_of` on.
class TaskLocalNode {
 public:
  explicit TaskLocalNode(const void* key) noexcept : key_(key) {}
  TaskLocalNode(TaskLocalNode&& other) noexcept : key_(other.key_) {
    ROUSE_ASSERT(!other.value_,
                 "the future of a TaskLocal's scope was moved after its first poll: move it "
                 "before, or keep it in a rouse::AnyFuture, which may be moved at any time");
  }

  /// The list that begins with this scope. Other threads may be reading the node, on behalf of the
  /// same task: so nothing is written where nothing changes.
  const TaskLocalNode* in_front_of(const TaskLocalNode* rest, const void* value) noexcept {
    if (value_ != value) value_ = value;
    if (rest_ != rest) rest_ = rest;
    return this;
  }

  [[nodiscard]] const void* key() const noexcept { return key_; }
  [[nodiscard]] const void* value() const noexcept { return value_; }
  [[nodiscard]] const TaskLocalNode* rest() const noexcept { return rest_; }

 private:
  const void* key_;  // the TaskLocal
  const void* value_ = nullptr;
  const TaskLocalNode* rest_ = nullptr;
};

/// The scopes that this thread is in, the innermost first; null if there are none. The list is good
/// for as long as the futures of these scopes are.
ROUSE_API const TaskLocalNode* task_locals() noexcept;

/// The value of the innermost scope of this TaskLocal; null if there is none.
ROUSE_API const void* find_task_local(const void* key) noexcept;

/// Makes this thread be in these scopes, and no others, for as long as it lives.
class ROUSE_API TaskLocalsScope {
 public:
  explicit TaskLocalsScope(const TaskLocalNode* scopes) noexcept;
  ~TaskLocalsScope();
  TaskLocalsScope(const TaskLocalsScope&) = delete;
  TaskLocalsScope& operator=(const TaskLocalsScope&) = delete;

 private:
  const TaskLocalNode* const before_;
};

/// What `TaskLocal::scope` gives.
template <class T, Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]]
TaskLocalFuture {
 public:
  using Output = output_t<F>;

  template <class G>
  TaskLocalFuture(const void* key, T&& value, G&& future)
      : value_(std::move(value)), node_(key), future_(std::forward<G>(future)) {}
  TaskLocalFuture(TaskLocalFuture&&) = default;
  TaskLocalFuture& operator=(TaskLocalFuture&&) = delete;
  ~TaskLocalFuture() {
    const TaskLocalsScope in_scope(scopes());
    future_.reset();
  }

  Poll<Output> poll(Context& cx) {
    const TaskLocalsScope in_scope(scopes());
    Context inner(cx.waker(), cx);
    inner.set_task_locals(&node_);
    return future_->poll(inner);
  }

  /// Whether the future borrows: see Async::borrows. The value is not looked into.
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(*future_); }

 private:
  const TaskLocalNode* scopes() noexcept { return node_.in_front_of(task_locals(), &value_); }

  T value_;
  TaskLocalNode node_;
  std::optional<F> future_;  // always there: optional, so that it can end inside the scope
};

template <class T>
class TaskLocal {
  static_assert(std::same_as<T, std::decay_t<T>>,
                "TaskLocal<T> keeps a value: T is neither a reference nor const");

 public:
  constexpr TaskLocal() noexcept {}
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  /// A future that does what `future` does, with the value set. It completes when `future` does and
  /// throws what that throws. Dropped midway, it drops `future` while the value can still be seen.
  /// May be polled on one thread after the other.
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
    TaskLocalNode node(this);
    const TaskLocalsScope in_scope(node.in_front_of(task_locals(), &value));
    return std::invoke(std::forward<Fn>(fn));
  }

  /// The value of the innermost scope; null outside of any. Good until that scope ends.
  [[nodiscard]] const T* try_get() const noexcept {
    return static_cast<const T*>(find_task_local(this));
  }
  /// The same where there must be one: aborts with a hint outside of any scope.
  [[nodiscard]] const T& get() const noexcept {
    const T* value = try_get();
    ROUSE_ASSERT(value,
                 "TaskLocal::get where no value is set: run this inside scope(value, future) or "
                 "sync_scope(value, fn) (a spawned task does not inherit the value), or ask "
                 "try_get()");
    return *value;
  }
  /// What `fn(value)` gives.
  template <class Fn>
  decltype(auto) with(Fn&& fn) const {
    static_assert(std::invocable<Fn, const T&>, "with needs a function that takes a const T&");
    return std::invoke(std::forward<Fn>(fn), get());
  }
};

}  // namespace rouse
