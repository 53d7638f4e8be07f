#include "exec/task/shared_scheduler.hpp"

#include <system_error>
#include <utility>

#include "rouse/exec/join_handle.hpp"

#include "exec/task/free_task.hpp"
#include "exec/task/observe.hpp"
#include "exec/task/task_transitions.hpp"
#include "exec/task/worker_watch.hpp"

namespace rouse::internal {
namespace {

TaskHeader& task_of(const void* data) noexcept {
  return *static_cast<TaskHeader*>(const_cast<void*>(data));
}

/// Whether this thread is polling the task. Then nobody else can complete it, and changes to its
/// wakers here are counted at the end of the poll.
bool is_polled_here(const TaskHeader& task) noexcept { return this_thread.task == &task; }

SharedScheduler& scheduler_of(TaskHeader& task) noexcept {
  return static_cast<SharedScheduler&>(task.scheduler);
}

/// Makes a task the one that this thread polls.
class Polling {
 public:
  explicit Polling(TaskHeader& task) noexcept {
    this_thread.task = &task;
    this_thread.new_refs = 0;
    this_thread.woke_itself = false;
  }
  ~Polling() { this_thread.task = nullptr; }
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;
};

/// Saves what this thread is doing while it ends another task: it may be in the middle of a poll.
class Aside {
 public:
  Aside() noexcept = default;
  ~Aside() {
    this_thread.task = task_;
    this_thread.new_refs = new_refs_;
    this_thread.woke_itself = woke_itself_;
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  TaskHeader* const task_ = this_thread.task;
  const std::int64_t new_refs_ = this_thread.new_refs;
  const bool woke_itself_ = this_thread.woke_itself;
};

}  // namespace

constexpr RawWakerVTable SharedScheduler::waker_vtable{clone_waker, wake, wake_by_ref, drop_waker};

// --- Whoever polls. ---

SharedScheduler::Ran SharedScheduler::run(TaskHeader& task, ForkDeque* forks) noexcept {
  return run_maybe_observed<false>(task, forks, nullptr);
}
SharedScheduler::Ran SharedScheduler::run_observed(TaskHeader& task, ForkDeque* forks,
                                                   PollWatch& watch) noexcept {
  return run_maybe_observed<true>(task, forks, &watch);
}

template <bool is_observed>
[[gnu::always_inline]] inline SharedScheduler::Ran SharedScheduler::run_maybe_observed(
    TaskHeader& task, ForkDeque* forks, [[maybe_unused]] PollWatch* watch) noexcept {
  const Worker* const worker = this_thread.worker;
  const auto note = [&]([[maybe_unused]] const TaskHeader* polled, [[maybe_unused]] bool ended) {
    if constexpr (is_observed) {
      if (this_thread.worker == worker) [[likely]]
        return watch->end(polled, ended, this_thread.woke_itself);
      end_watch_away(*watch, polled, ended);
    }
  };
  const auto done = [worker] { return this_thread.worker == worker ? Ran::done : Ran::away; };
  SharedTaskState state = task.shared_state();
  if (const NextPoll next = state.start_poll(); next != NextPoll::poll) [[unlikely]] {
    if (next == NextPoll::skip) {
      note(nullptr, false);
      return Ran::done;
    }
    cancel_now(task);
    note(nullptr, true);
    return done();
  }
  bool ready = false;
  {
    const BorrowedWaker waker(RawWaker(&task, &waker_vtable));
    Context cx(waker.get(), Context::task_budget, forks, task.tag());
    const Polling polling(task);
    this_thread.poll = &cx;
    if constexpr (is_observed) watch->begin_poll(task);
    ready = task.vtable.poll(task, cx);
    cx.run_poll_ends();
    this_thread.poll = nullptr;
  }
  note(&task, ready);
  if (this_thread.worker != worker) [[unlikely]] {
    end_poll_away(task, ready);
    return Ran::away;
  }
  if (ready) {
    complete(task, this_thread.new_refs);
    return done();
  }
  if (this_thread.woke_itself) {
    state.end_poll_active(this_thread.new_refs);
    return Ran::again;
  }
  return state.end_poll(this_thread.new_refs) ? Ran::again : Ran::done;
}

void SharedScheduler::end_poll_away(TaskHeader&, bool) noexcept {
  ROUSE_ASSERT(false, "a task of a scheduler without workers has lost its worker");
}

void SharedScheduler::cancel_now(TaskHeader& task) noexcept {
  const Aside aside;
  {
    const Polling polling(task);
    note_cancel(task);
    task.cancel();
  }
  complete(task, this_thread.new_refs);
}

void SharedScheduler::fail_now(TaskHeader& task, std::exception_ptr error) noexcept {
  const Aside aside;
  {
    const Polling polling(task);
    task.fail(std::move(error));
  }
  complete(task, this_thread.new_refs);
}

void SharedScheduler::complete(TaskHeader& task, std::int64_t new_refs) noexcept {
  untrack(task);
  light_fence();  // see HandedOver
  if (handed_over_.is_wanted()) [[unlikely]]
    return complete_examined(task, new_refs);
  finish(task, new_refs);
}

void SharedScheduler::finish(TaskHeader& task, std::int64_t new_refs) noexcept {
  const SharedTaskState::Finished finished = task.shared_state().finish(new_refs);
  if (!finished.has_joiner) {
    discard_outcome(task);
  } else if (finished.has_join_waker) {
    wake_joiner(std::move(task.join_waker.write()));
  } else {
    return;  // it is the joiner's
  }
  drop_ref(task);
}

/// With one reference more, for the examiner.
void SharedScheduler::complete_examined(TaskHeader& task, std::int64_t new_refs) noexcept {
  finish(task, new_refs + 1);
  if (!handed_over_.give(task)) drop_ref(task);
}

void SharedScheduler::drop_handed_over(TaskHeader* first) noexcept {
  while (first != nullptr) drop_ref(*std::exchange(first, first->queue_next.read()));
}

/// The joiner goes to the end of the queue: if it awaits many tasks, more of them end before its
/// turn.
void SharedScheduler::wake_joiner(Waker waker) noexcept {
  const RawWaker raw = std::move(waker).into_raw();
  if (raw.vtable() != &waker_vtable) return raw.vtable()->wake(raw.data());
  wake_task(task_of(raw.data()), true, Turn::last);
}

namespace {

/// What a task gets that is still polled while its runtime ends: nothing that it waits for comes.
bool says_that_it_ends(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::system_error& failed) {
    return failed.code() == std::errc::operation_canceled;
  } catch (const JoinError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void SharedScheduler::discard_outcome(TaskHeader& task) noexcept {
  auto error = task.discard();
  if (!error || (is_ending() && says_that_it_ends(error))) return;
  report(task, std::move(error));
}

void SharedScheduler::report(TaskHeader& task, std::exception_ptr error) const noexcept {
  report_unhandled(on_unhandled_, UnhandledException(task.id(), task.spawned_at.source(),
                                                     std::move(error), task.name()));
}

void SharedScheduler::drop_ref(TaskHeader& task) noexcept {
  if (task.shared_state().drop_ref()) free(task);
}

void SharedScheduler::free(TaskHeader& task) noexcept {
  SharedScheduler& scheduler = scheduler_of(task);
  free_task(task);
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
  drop_ref(task);
}

void SharedScheduler::joined(TaskHeader& task) { drop_ref(task); }

// ORDER: as RefCounted.
void SharedScheduler::add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
void SharedScheduler::release() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) delete this;
}

// --- Wakers. ---

RawWaker SharedScheduler::clone_waker(const void* data) {
  TaskHeader& task = task_of(data);
  if (is_polled_here(task)) {
    ++this_thread.new_refs;
  } else {
    task.shared_state().add_ref();
  }
  return RawWaker(data, &waker_vtable);
}

Waker SharedScheduler::waker_of(TaskHeader& task) { return Waker::from_raw(clone_waker(&task)); }

void SharedScheduler::wake(const void* data) { wake_task(task_of(data), true, Turn::next); }
void SharedScheduler::wake_by_ref(const void* data) { wake_task(task_of(data), false, Turn::next); }

void SharedScheduler::wake_task(TaskHeader& task, bool and_drop, Turn turn) noexcept {
  if (is_polled_here(task)) {
    this_thread.woke_itself = true;
    this_thread.new_refs -= and_drop ? 1 : 0;
    return;
  }
  SharedScheduler& scheduler = scheduler_of(task);
  if (and_drop && this_thread.pool != &scheduler) {
    // Only this reference may keep the task, and with it the scheduler, alive until it is queued:
    // the executor may be shutting down.
    if (task.shared_state().wake(false) == SharedTaskState::Woken::enqueue) {
      scheduler.enqueue(task, turn);
    }
    return scheduler.drop_ref(task);
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
    --this_thread.new_refs;
  } else {
    scheduler_of(task).drop_ref(task);
  }
}

}  // namespace rouse::internal
