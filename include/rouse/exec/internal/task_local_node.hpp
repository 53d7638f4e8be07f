// TaskLocalNode: the value of one scope of a TaskLocal, in the list of those that a thread is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"

namespace rouse::internal {

/// One scope in a list of scopes. Owned by RefPtr: by its future or sync_scope, by nodes in front
/// of it, and by those who took the list along.
class ROUSE_API TaskLocalNode {
 public:
  TaskLocalNode(const TaskLocalNode&) = delete;
  TaskLocalNode& operator=(const TaskLocalNode&) = delete;
  virtual ~TaskLocalNode();

  [[nodiscard]] const void* key() const noexcept { return key_; }
  [[nodiscard]] const void* value() const noexcept { return value_; }
  [[nodiscard]] const TaskLocalNode* rest() const noexcept { return rest_; }

  /// Puts the node in front of `rest`. False: somebody else sees it, so it stays unchanged.
  bool try_put_before(const TaskLocalNode* rest) noexcept;
  /// The same; if somebody else sees the node, `node` becomes another one with the same value.
  static void put_before(const TaskLocalNode* rest, RefPtr<TaskLocalNode>& node);

  /// ORDER: as RefCounted.
  void add_ref() const noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void release() const noexcept;

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* node, std::size_t size) noexcept { free_block(node, size); }

 protected:
  TaskLocalNode(const void* key, const void* value) noexcept : key_(key), value_(value) {}

 private:
  class SameValue;
  [[nodiscard]] bool has_one_ref() const noexcept;
  [[nodiscard]] virtual RefPtr<TaskLocalNode> with_same_value();

  mutable atomic<std::uint32_t> refs_{1};
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

/// The scopes that this thread is in, the innermost first; null if there are none. Hold a reference
/// (RefPtr) to keep it beyond the call.
ROUSE_API const TaskLocalNode* task_locals() noexcept;

/// The value of the innermost scope of this TaskLocal; null if there is none.
ROUSE_API const void* find_task_local(const void* key) noexcept;

/// Puts this thread into exactly these scopes while it lives.
class ROUSE_API TaskLocalsScope {
 public:
  explicit TaskLocalsScope(const TaskLocalNode* scopes) noexcept;
  ~TaskLocalsScope();
  TaskLocalsScope(const TaskLocalsScope&) = delete;
  TaskLocalsScope& operator=(const TaskLocalsScope&) = delete;

 private:
  const TaskLocalNode* const before_;
};

/// One poll of a future in the scope of a node, in front of those that this thread is in.
class TaskLocalPoll {
 public:
  explicit TaskLocalPoll(RefPtr<TaskLocalNode>& node) : at_end_(enter(node)), scope_(node.get()) {}
  TaskLocalPoll(const TaskLocalPoll&) = delete;
  TaskLocalPoll& operator=(const TaskLocalPoll&) = delete;

 private:
  static TaskLocalNode& enter(RefPtr<TaskLocalNode>& node) {
    TaskLocalNode::put_before(task_locals(), node);
    return *node;
  }
  /// Values set outside must not live longer than the poll because of this.
  class LetGoOfRest {
   public:
    explicit LetGoOfRest(TaskLocalNode& node) noexcept : node_(node) {}
    ~LetGoOfRest() { static_cast<void>(node_.try_put_before(nullptr)); }
    LetGoOfRest(const LetGoOfRest&) = delete;
    LetGoOfRest& operator=(const LetGoOfRest&) = delete;

   private:
    TaskLocalNode& node_;
  };

  const LetGoOfRest at_end_;
  const TaskLocalsScope scope_;
};

/// Calls `drop` in the scope of a node. If it can't be put in front of this thread's scopes, it
/// stays in front of those it was polled in: a new node would need memory.
template <class Drop>
void drop_in_scope(TaskLocalNode& node, Drop drop) noexcept {
  static_cast<void>(node.try_put_before(task_locals()));
  const TaskLocalsScope in_scope(&node);
  drop();
}

}  // namespace rouse::internal
