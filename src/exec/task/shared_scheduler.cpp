#include "exec/shared_scheduler.hpp"

#include <utility>

namespace rouse {
namespace {

TaskHeader& task_of(const void* data) noexcept {
  return *static_cast<TaskHeader*>(const_cast<void*>(data));
}

/// Whether this thread is polling the task. Then nobody else can complete it, and what happens to
/// its wakers here is told at the end of the poll.
bool is_polled_here(const TaskHeader& task) noexcept { return this_thread.task == &task; }

SharedScheduler& scheduler_of(TaskHeader& task) noexcept {
  return static_cast<SharedScheduler&>(task.scheduler);
}

/// Makes a task the one that this thread polls.
class Polling {
 public:
  explicit Polling(TaskHeader& task) noexcept {
    this_thread.task = &task;
    this_thread.new_owners = 0;
    this_thread.woke_itself = false;
  }
  ~Polling() { this_thread.task = nullptr; }
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;
};

/// Keeps what this thread is doing while it ends another task: it may be in the midst of a poll.
class Aside {
 public:
  Aside() noexcept = default;
  ~Aside() {
    this_thread.task = task_;
    this_thread.new_owners = new_owners_;
    this_thread.woke_itself = woke_itself_;
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  TaskHeader* const task_ = this_thread.task;
  const std::int64_t new_owners_ = this_thread.new_owners;
  const bool woke_itself_ = this_thread.woke_itself;
};

}  // namespace

constexpr RawWakerVTable SharedScheduler::waker_vtable{clone_waker, wake, wake_by_ref, drop_waker};

// --- Whoever polls. ---

SharedScheduler::Ran SharedScheduler::run(TaskHeader& task, ForkDeque* forks) noexcept {
  const Worker* const worker = this_thread.worker;
  const auto done = [worker] { return this_thread.worker == worker ? Ran::done : Ran::away; };
  SharedTaskState state = task.shared_state();
  if (state.start_poll() == NextPoll::cancel) [[unlikely]] {
    cancel_now(task);
    return done();
  }
  bool ready = false;
  {
    const BorrowedWaker waker(RawWaker(&task, &waker_vtable));
    Context cx(waker.get(), Context::task_budget, forks);
    const Polling polling(task);
    this_thread.poll = &cx;
    ready = task.vtable.poll(task, cx);
    cx.run_poll_ends();
    this_thread.poll = nullptr;
  }
  if (this_thread.worker != worker) [[unlikely]] {
    end_poll_away(task, ready);
    return Ran::away;
  }
  if (ready) {
    complete(task, this_thread.new_owners);
    return done();
  }
  if (this_thread.woke_itself) {
    state.end_poll_active(this_thread.new_owners);
    return Ran::again;
  }
  return state.end_poll(this_thread.new_owners) ? Ran::again : Ran::done;
}

void SharedScheduler::end_poll_away(TaskHeader&, bool) noexcept {
  ROUSE_ASSERT(false, "a task of a scheduler without workers has lost its worker");
}

void SharedScheduler::cancel_now(TaskHeader& task) noexcept {
  const Aside aside;
  {
    const Polling polling(task);
    task.vtable.cancel(task);
  }
  complete(task, this_thread.new_owners);
}

void SharedScheduler::fail_now(TaskHeader& task, std::exception_ptr error) noexcept {
  const Aside aside;
  {
    const Polling polling(task);
    task.vtable.fail(task, std::move(error));
  }
  complete(task, this_thread.new_owners);
}

void SharedScheduler::complete(TaskHeader& task, std::int64_t new_owners) noexcept {
  forget(task);
  const SharedTaskState::Finished finished = task.shared_state().finish(new_owners);
  if (!finished.has_joiner) {
    discard_outcome(task);
  } else if (finished.has_join_waker) {
    wake_joiner(std::move(task.join_waker.write()));
  }
  drop_owner(task);
}

/// The joiner waits its turn: if it awaits many tasks, others of them end before that.
void SharedScheduler::wake_joiner(Waker waker) noexcept {
  const RawWaker raw = std::move(waker).into_raw();
  if (raw.vtable() != &waker_vtable) return raw.vtable()->wake(raw.data());
  wake_task(task_of(raw.data()), true, Turn::last);
}

void SharedScheduler::discard_outcome(TaskHeader& task) noexcept {
  if (auto error = task.vtable.discard(task)) report(task, std::move(error));
}

void SharedScheduler::report(TaskHeader& task, std::exception_ptr error) const noexcept {
  report_unhandled(on_unhandled_, UnhandledException(task.id(), task.spawned_at, std::move(error),
                                                     task.vtable.name(task)));
}

void SharedScheduler::drop_owner(TaskHeader& task) noexcept {
  if (task.shared_state().drop_owner()) free(task);
}

void SharedScheduler::free(TaskHeader& task) noexcept {
  SharedScheduler& scheduler = scheduler_of(task);
  task.vtable.free(task);
  scheduler.freed();
}

// --- The JoinHandle. ---

void SharedScheduler::watch(TaskHeader& task, const Waker& waker) {
  SharedTaskState state = task.shared_state();
  // While the bit is set the task may complete and the field be taken: so not even a look at it.
  if (state.has_join_waker() && !state.retract_join_waker()) return waker.wake_by_ref();
  if (!task.join_waker.read().will_wake(waker)) task.join_waker.write() = waker;
  if (!state.publish_join_waker()) waker.wake_by_ref();
}

void SharedScheduler::abort(TaskHeader& task) {
  if (task.shared_state().cancel()) enqueue(task, Turn::last);
}

void SharedScheduler::detach(TaskHeader& task) {
  if (task.shared_state().drop_join_interest()) {
    const Waker forgotten = std::move(task.join_waker.write());
  } else {
    discard_outcome(task);
  }
  drop_owner(task);
}

void SharedScheduler::joined(TaskHeader& task) { drop_owner(task); }

// ORDER: as RefCounted.
void SharedScheduler::add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
void SharedScheduler::release() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) delete this;
}

// --- Wakers. ---

RawWaker SharedScheduler::clone_waker(const void* data) {
  TaskHeader& task = task_of(data);
  if (is_polled_here(task)) {
    ++this_thread.new_owners;
  } else {
    task.shared_state().add_owner();
  }
  return RawWaker(data, &waker_vtable);
}

void SharedScheduler::wake(const void* data) { wake_task(task_of(data), true, Turn::next); }
void SharedScheduler::wake_by_ref(const void* data) { wake_task(task_of(data), false, Turn::next); }

void SharedScheduler::wake_task(TaskHeader& task, bool and_drop, Turn turn) noexcept {
  if (is_polled_here(task)) {
    this_thread.woke_itself = true;
    this_thread.new_owners -= and_drop ? 1 : 0;
    return;
  }
  SharedScheduler& scheduler = scheduler_of(task);
  if (and_drop && this_thread.pool != &scheduler) {
    // Nothing but this owner may keep the task, and with it the scheduler, until it is queued: the
    // executor may be ending.
    if (task.shared_state().wake(false) == SharedTaskState::Woken::enqueue) {
      scheduler.enqueue(task, turn);
    }
    return scheduler.drop_owner(task);
  }
  switch (task.shared_state().wake(and_drop)) {
    case SharedTaskState::Woken::nothing:
      return;
    case SharedTaskState::Woken::enqueue:
      return scheduler.enqueue(task, turn);
    case SharedTaskState::Woken::free:
      return free(task);
  }
}

void SharedScheduler::drop_waker(const void* data) {
  TaskHeader& task = task_of(data);
  if (is_polled_here(task)) {
    --this_thread.new_owners;
  } else {
    scheduler_of(task).drop_owner(task);
  }
}

}  // namespace rouse
