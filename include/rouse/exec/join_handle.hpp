// JoinHandle<T>: a future for the result of a spawned task.
#pragma once

#include <exception>
#include <stdexcept>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/exec/task_header.hpp"

namespace rouse {

/// Thrown at the join of a task that has no result, because it was cancelled.
class ROUSE_API JoinError : public std::runtime_error {
 public:
  /// 0: a child of parallel or scope, which has no handle.
  explicit JoinError(TaskId id);
  ~JoinError() override;
  [[nodiscard]] bool is_cancelled() const noexcept { return true; }
  [[nodiscard]] TaskId id() const noexcept { return id_; }

 private:
  TaskId id_;
};

/// Completes when the task is done: with its result, throwing what the task threw, or throwing
/// JoinError if it was cancelled. Dropping the handle, like `detach`, lets the task run on by
/// itself (its result is lost; an exception goes to the executor's `on_unhandled`). Usable from any
/// thread, by one at a time.
template <class T = void>
class [[nodiscard("say .detach() if nobody is to await this task")]] JoinHandle {
 public:
  using Output = T;

  explicit JoinHandle(TaskHeader& task) noexcept : task_(&task) {}
  JoinHandle(JoinHandle&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    JoinHandle old(std::move(other));
    std::swap(task_, old.task_);
    return *this;
  }
  ~JoinHandle() { detach(); }

  Poll<T> poll(Context& cx) {
    ROUSE_ASSERT(task_, "a JoinHandle was awaited after it was joined, detached or moved from");
    TaskHeader& task = *task_;
    if (!task.state.is_complete()) {
      task.scheduler.watch(task, cx.waker());
      return pending;
    }
    if (!cx.take_budget()) return pending;
    return take();
  }

  /// Destroys the task's future at its next suspension point. The join then throws JoinError,
  /// unless the task was done before. Of a handle that was joined or detached: does nothing.
  void abort() {
    if (task_) task_->scheduler.abort(*task_);
  }

  /// Lets the task run on by itself.
  void detach() noexcept {
    if (TaskHeader* task = std::exchange(task_, nullptr)) task->scheduler.detach(*task);
  }

  /// Whether the task is done; true also of a handle that was joined.
  [[nodiscard]] bool is_finished() const noexcept { return !task_ || task_->state.is_complete(); }
  /// 0 once it was joined or detached.
  [[nodiscard]] TaskId id() const noexcept { return task_ ? task_->id() : 0; }

 private:
  /// Gives the task up once its outcome was taken, or while that throws.
  struct Joined {
    explicit Joined(JoinHandle& handle) noexcept
        : task(*std::exchange(handle.task_, nullptr)),
          outcome(*static_cast<Outcome<T>*>(task.vtable.outcome(task))) {}
    ~Joined() {
      outcome.reset();
      task.scheduler.joined(task);
    }
    TaskHeader& task;
    Outcome<T>& outcome;
  };

  Poll<T> take() {
    const Joined joined(*this);
    if (!joined.outcome.is_set()) [[unlikely]]
      throw JoinError(joined.task.id());
    return take_ready(joined.outcome);
  }

  TaskHeader* task_;
};

}  // namespace rouse
