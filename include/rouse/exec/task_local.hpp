// TaskLocal<T>: a value that belongs to a piece of asynchronous work instead of a thread.
//
//   inline rouse::TaskLocal<int> request_id;
//
//   co_await request_id.scope(42, handle(request));   // in handle: request_id.get() == 42
//
// The value is seen while the future that `scope` gives is polled or destroyed, on whichever
// thread; scopes nest, and the innermost wins. A task that is spawned inside does not inherit it:
// give it a scope of its own. Children of `parallel` and `scope` do: they all see what was set
// where they were forked (`scope`: where it began), on whichever thread and however their parent
// is polled later. (Without an executor, and where nothing was set, children that stay in their
// parent's poll see what that sees.)
//
// How: each thread has a list of the scopes it is in, which alone says what is set. Its nodes are
// counted and, once somebody else may see them, never change. So work that goes on elsewhere takes
// the list along by taking a share in its first node, and it does not matter who else is gone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/base/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/movable_until_polled.hpp"

namespace rouse {

/// One scope in a list of them. Owned by RefPtr: its future or sync_scope, nodes in front of it,
/// and who took the list along.
class ROUSE_API TaskLocalNode {
 public:
  TaskLocalNode(const TaskLocalNode&) = delete;
  TaskLocalNode& operator=(const TaskLocalNode&) = delete;
  virtual ~TaskLocalNode();

  [[nodiscard]] const void* key() const noexcept { return key_; }
  [[nodiscard]] const void* value() const noexcept { return value_; }
  [[nodiscard]] const TaskLocalNode* rest() const noexcept { return rest_; }

  /// Puts the node in front of `rest`. False: somebody else sees it, so it stays as it is.
  bool try_put_before(const TaskLocalNode* rest) noexcept;
  /// The same; if somebody else sees the node, `node` becomes another one with the same value.
  static void put_before(const TaskLocalNode* rest, RefPtr<TaskLocalNode>& node);

  /// ORDER: as RefCounted.
  void add_ref() const noexcept { owners_.fetch_add(1, memory_order_relaxed); }
  void release() const noexcept;

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* node, std::size_t size) noexcept { free_block(node, size); }

 protected:
  TaskLocalNode(const void* key, const void* value) noexcept : key_(key), value_(value) {}

 private:
  class SameValue;
  [[nodiscard]] bool has_one_owner() const noexcept;
  [[nodiscard]] virtual RefPtr<TaskLocalNode> with_same_value();

  mutable atomic<std::uint32_t> owners_{1};
  const void* const key_;  // the TaskLocal
  const void* const value_;
  const TaskLocalNode* rest_ = nullptr;  // this owns it
};

/// A node that has its value inside.
template <class T>
class TaskLocalValue final : public TaskLocalNode {
 public:
  TaskLocalValue(const void* key, T&& value)
      : TaskLocalNode(key, &value_), value_(std::move(value)) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "TaskLocal of an over-aligned T");
  }

 private:
  const T value_;
};

/// The scopes that this thread is in, the innermost first; null if there are none. Take a share in
/// it (RefPtr) to keep it beyond the call that asks.
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
      : node_(make_ref<TaskLocalValue<T>>(key, std::move(value))),
        future_(std::forward<G>(future)) {}
  TaskLocalFuture(TaskLocalFuture&&) = default;
  TaskLocalFuture& operator=(TaskLocalFuture&&) = delete;
  ~TaskLocalFuture() {
    if (!node_) return;
    // If it can't be put before the scopes of this thread, it is still before those it was polled
    // in: a new one would need memory.
    static_cast<void>(node_->try_put_before(task_locals()));
    const TaskLocalsScope in_scope(node_.get());
    future_.reset();
  }

  Poll<Output> poll(Context& cx) {
    polled_.set_polled();
    TaskLocalNode::put_before(task_locals(), node_);
    const LetGoOfRest at_end(*node_);
    const TaskLocalsScope in_scope(node_.get());
    return future_->poll(cx);
  }

  /// Whether the future borrows: see Async::borrows. The value is not looked into.
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(*future_); }

 private:
  /// What is set outside is not to live longer than the poll for this.
  class LetGoOfRest {
   public:
    explicit LetGoOfRest(TaskLocalNode& node) noexcept : node_(node) {}
    ~LetGoOfRest() { static_cast<void>(node_.try_put_before(nullptr)); }
    LetGoOfRest(const LetGoOfRest&) = delete;
    LetGoOfRest& operator=(const LetGoOfRest&) = delete;

   private:
    TaskLocalNode& node_;
  };

  RefPtr<TaskLocalNode> node_;  // null if this was moved from
  std::optional<F> future_;     // optional, so that it can end inside the scope
  [[no_unique_address]] MovableUntilPolled polled_;
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
    const auto node = make_ref<TaskLocalValue<T>>(this, std::move(value));
    static_cast<void>(node->try_put_before(task_locals()));  // it is this one's alone
    const TaskLocalsScope in_scope(node.get());
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
