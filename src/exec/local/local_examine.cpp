// LocalCore, seen by an examiner. Its tasks are its owner's, so that one shows them, between two
// polls; if there is none, the examiner is a guest for a moment, and an owner that comes waits.
#include "exec/local/local_core.hpp"
#include "exec/park/deadline.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

/// What an examiner wants of the owner.
struct LocalCore::Request {
  explicit Request(TaskVisitor& shown_to) noexcept : visitor(shown_to) {}
  TaskVisitor& visitor;
  bool is_answered = false;
  CondVar changed;  // with the core's lock
};

void LocalCore::examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) {
  if (is_run_here()) return show_tasks(visitor);
  const Deadline deadline(patience);
  Request request(visitor);
  Ownership::Guest guest(Unparker([](void*) noexcept {}, nullptr));
  for (;;) {
    if (ownership_.lend(guest)) {
      show_tasks(visitor);
      return ownership_.give_back();
    }
    ownership_.remove(guest);
    Lock lock(mutex_);
    if (closed_) return;
    request_ = &request;
    // As a post does: the owner sees it, or is unparked.
    inbox_pending_.store(true, memory_order_relaxed);
    park_->unpark();
    // Only so long: an owner inside the polls of a task that awaits the set may have left.
    wait_for(request.changed, lock, std::chrono::milliseconds(1));
    if (std::exchange(request_, nullptr) == nullptr) {
      request.changed.wait(lock, [&] { return request.is_answered; });
      return;
    }
    if (deadline.left() == std::chrono::nanoseconds(0)) break;
  }
  visitor.cannot_see(
      "the thread that runs it has been in one poll, or blocked, for the patience of the dump");
  if (polled_by_.thread() != 0) visitor.see_stuck(poll_under_way());
}

PollUnderWay LocalCore::poll_under_way() const noexcept {
  return PollUnderWay{.of = this,
                      .task = nullptr,
                      .polls = &counters_.polls,
                      .number = counters_.polls.get(),
                      .thread = polled_by_.thread()};
}

void LocalCore::show_polls(PollVisitor& visitor) noexcept {
  const PollUnderWay poll = poll_under_way();
  if (poll.thread != 0) visitor.see(poll);
}

namespace {

/// Passes some tasks on.
class Only final : public TaskVisitor {
 public:
  Only(std::span<const TaskId> ids, TaskVisitor& to) noexcept : ids_(ids), to_(to) {}
  void see(const SeenTask& seen) override {
    if (is_among(ids_, seen.id)) to_.see(seen);
  }
  void cannot_see(const char*) override {}

 private:
  std::span<const TaskId> ids_;
  TaskVisitor& to_;
};

}  // namespace

/// Its owner polls nothing while it shows them. It did so just now, so this lasts longer only if
/// its thread has to wait for a processor.
void LocalCore::examine_at_once(std::span<const TaskId> ids, TaskVisitor& visitor) {
  Only only(ids, visitor);
  examine(only, std::chrono::milliseconds(100));
}

/// Nothing of others is called between the two locks: the examiner waits for it.
void LocalCore::answer() noexcept {
  Request* request = nullptr;
  {
    const Lock lock(mutex_);
    request = std::exchange(request_, nullptr);
  }
  if (request == nullptr) return;
  show_tasks(request->visitor);
  const Lock lock(mutex_);
  request->is_answered = true;
  request->changed.notify_one();  // under the lock: the request is gone then
}

/// By the owner.
void LocalCore::show_tasks(TaskVisitor& visitor) {
  using enum TaskState::Bits;
  {
    // Spawned by other threads, or before it is run for the first time.
    const Lock lock(mutex_);
    for (TaskHeader* task = inbox_first_; task != nullptr; task = task->queue_next.read()) {
      if (!task->inbox().has(adopt_it)) continue;
      visitor.see(SeenTask(task->id(), task->name(), task->spawned_at, SeenTask::State::queued));
    }
  }
  for (TaskHeader* task : tasks_) {
    bool is_running = false;
    for (const ThreadContext* in = &this_thread; in != nullptr; in = in->outer) {
      is_running = is_running || in->task == task;
    }
    const TaskState::Word word = task->state.word.load(memory_order_relaxed);
    if (is_running) {
      // Its future may be in the midst of its destruction.
      visitor.see(SeenTask(*task, SeenTask::State::running, false));
    } else if ((word & active) != 0) {
      visitor.see(SeenTask(*task, SeenTask::State::queued, true));
    } else {
      const std::int64_t owners = 1 + ((word & join_interest) != 0 ? 1 : 0);
      // While it ends, timers and the like have let go of wakers; and other threads have references
      // that are not counted here.
      const bool is_unknown = closing_ || task->inbox().is_touched();
      visitor.see(
          SeenTask(*task, SeenTask::State::idle, true, is_unknown ? -1 : refs_of(word) - owners));
    }
  }
}

}  // namespace rouse::internal
