// JoinHandle<T>: a future for the result of a spawned task.
#pragma once

#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse {

class AbortHandle;

/// Thrown when joining a task that has no result because it was cancelled.
class ROUSE_API JoinError : public std::runtime_error {
 public:
  /// 0: a child of parallel or scope, which has no handle.
  explicit JoinError(TaskId id);
  ~JoinError() override;
  /// Always true: there is no other reason.
  [[nodiscard]] bool is_cancelled() const noexcept { return true; }
  /// Of the task that has no result.
  [[nodiscard]] TaskId id() const noexcept { return id_; }

 private:
  TaskId id_;
};

namespace internal {

/// Joins a task that gave no value: throws its exception, or JoinError.
[[noreturn]] ROUSE_API void join_failed(TaskHeader& task);

}  // namespace internal

/// Completes when the task is done: with its result, or by throwing what the task threw, or
/// JoinError if it was cancelled.
/// Cancel safety: dropping the handle, like `detach`, lets the task run on (its result is lost; an
/// exception goes to the executor's `on_unhandled`).
/// Threads: any, one at a time.
template <class T = void>
class [[nodiscard("say .detach() if nobody is to await this task")]] JoinHandle {
 public:
  using Output = T;

  explicit JoinHandle(internal::TaskHeader& task) noexcept : task_(&task) {}
  JoinHandle(JoinHandle&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    JoinHandle old(std::move(other));
    std::swap(task_, old.task_);
    return *this;
  }
  ~JoinHandle() { detach(); }

  Poll<T> poll(Context& cx) {
    if (!poll_finished(cx)) return pending;
    return take();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinHandle, "task", join, &JoinHandle::task_)
  /// True: the task is done, and its result was not taken. False: `cx` is woken then. For JoinSet.
  bool poll_finished(Context& cx) {
    ROUSE_ASSERT(task_, "a JoinHandle was awaited after it was joined, detached or moved from");
    internal::TaskHeader& task = *task_;
    if (!task.state.is_complete()) {
      task.scheduler.watch(task, cx.waker());
      return false;
    }
    return cx.take_budget();
  }
  /// The result of a task that is done, which this joins. For JoinSet.
  Poll<T> take() {
    internal::TaskHeader& task = *std::exchange(task_, nullptr);
    if (task.content != internal::TaskHeader::Content::value) [[unlikely]]
      internal::join_failed(task);
    const Joined joined(task);
    if constexpr (std::is_void_v<T>) {
      return Poll<T>::ready();
    } else {
      return Poll<T>::ready(joined.cell.take(internal::OutcomeState::value));
    }
  }

  /// Destroys the task's future at its next suspension point. Joining it then throws JoinError,
  /// unless the task was already done. Does nothing on a handle that was joined or detached.
  void abort() {
    if (task_) task_->scheduler.abort(*task_);
  }

  /// Aborts the task, too, and may be kept elsewhere: include <rouse/exec/abort_handle.hpp>.
  [[nodiscard]] AbortHandle abort_handle() const;

  /// Lets the task run on.
  void detach() noexcept {
    if (internal::TaskHeader* task = std::exchange(task_, nullptr)) task->scheduler.detach(*task);
  }

  /// Whether the task is done; also true for a joined handle.
  [[nodiscard]] bool is_finished() const noexcept { return !task_ || task_->state.is_complete(); }
  /// 0 once it was joined or detached.
  [[nodiscard]] TaskId id() const noexcept { return task_ ? task_->id() : 0; }

 private:
  /// Drops the task once its value was taken, or while that throws.
  struct Joined {
    explicit Joined(internal::TaskHeader& of) noexcept
        : task(of), cell(*static_cast<internal::OutcomeCell<T>*>(of.outcome())) {}
    ~Joined() {
      internal::destroy(&cell.value);
      task.scheduler.joined(task);
    }
    internal::TaskHeader& task;
    internal::OutcomeCell<T>& cell;
  };

  internal::TaskHeader* task_;
};

}  // namespace rouse
