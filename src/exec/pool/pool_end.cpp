// PoolCore: threads that hand their worker over, and the shutdown.
#include <new>
#include <utility>

#include "rouse/exec/internal/fork_region.hpp"

#include "exec/pool/pool_core.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

// --- Threads that block. ---

Worker* PoolCore::begin_blocking() noexcept {
  if (PoolCore* swept = std::exchange(this_thread.sweeps, nullptr)) {
    Lock lock(swept->end_mutex_);
    --swept->sweepers_;
    swept->find_sweeper(lock);
    // Nobody else will: what it is about to wait for may be a task that is not swept yet.
    if (swept->needs_sweeper_ && swept->waiting_ == 0) swept->sweep(lock);
    return nullptr;
  }
  Worker* const worker = this_thread.worker;
  // One that drives is inside no poll, and has to come back to its timers.
  if (worker == nullptr || worker->is_driving) return nullptr;
  return worker->pool.part_with(*worker) ? nullptr : worker;
}

void PoolCore::end_blocking(Worker* kept) noexcept {
  if (kept != nullptr) kept->pool.take_back(*kept);
}

/// False: it keeps the worker, but it is not to be used until `take_back`.
bool PoolCore::part_with(Worker& worker) noexcept {
  promote_all(worker.forks);  // what is in there is of a chain that runs on this thread
  if (this_thread.poll != nullptr) this_thread.poll->clear_forks();
  worker.current.get()->shared_state().go_away();
  worker.polled_by.end();
  this_thread.worker = nullptr;
  this_thread.counters = nullptr;
  this_thread.forks = nullptr;
  if (options_.timer_drivers)
    options_.timer_drivers->shared_context().enter();  // left with the worker's loop
  if (!is_closing()) {
    if (hand_over(worker)) return true;
    while (TaskHeader* task = worker.next()) {
      worker.forget_sample(*task);
      inject(*task);
    }
  }
  Lock lock(end_mutex_);
  if (!is_closing()) {
    worker.kept = Worker::Kept::yes;
    return false;
  }
  end_loop();
  if (is_sweeping_) find_sweeper(lock);
  return true;
}

/// False: there is no thread.
bool PoolCore::hand_over(Worker& worker) noexcept {
  return start_inside([&] {
    return threads_.replace_thread(
        [core = RefPtr<PoolCore>::share(this), &worker] { core->run_worker(worker); });
  });
}

/// One more thread is inside, if `start` finds one.
template <class Fn>
bool PoolCore::start_inside(Fn start) noexcept {
  inside_.fetch_add(1, memory_order_relaxed);
  bool is_started = false;
  try {
    is_started = start().has_value();
  } catch (const std::bad_alloc&) {  // as if the system had no thread
    is_started = false;
  }
  // The last of the others may have left meanwhile.
  if (!is_started) thread_left();
  return is_started;
}

void PoolCore::take_back(Worker& worker) noexcept {
  {
    const Lock lock(end_mutex_);
    if (worker.kept == Worker::Kept::taken_away) return;
    worker.kept = Worker::Kept::no;
  }
  // Its loop has not ended, so there is no sweep yet.
  worker.current.get()->shared_state().come_back();
  worker.polled_by.begin();
  this_thread.worker = &worker;
  this_thread.counters = &worker.counters;
  this_thread.forks = &worker.forks;
  if (worker.timer_driver) worker.timer_driver->enter();
}

void PoolCore::end_poll_away(TaskHeader& task, bool is_ready) noexcept {
  if (this_thread.may_block) refuse_to_outlive_its_poll();
  const std::int64_t new_refs = this_thread.new_refs;
  if (is_ready) return complete(task, new_refs);
  SharedTaskState state = task.shared_state();
  {
    const Lock lock(end_mutex_);
    if (!is_sweeping_) {
      bool is_active = this_thread.woke_itself;
      if (is_active) {
        state.end_poll_active(new_refs);
        state.come_back();
      } else {
        is_active = state.end_poll(new_refs);  // if not, it may be gone now
      }
      if (is_active) inject(task);
      return;
    }
  }
  state.end_poll_active(new_refs);
  cancel_now(task);
}

void PoolCore::end_watch_away(PollWatch& watch, const TaskHeader* task, bool ended) noexcept {
  const Lock lock(away_mutex_);
  watch.end_in(is_watching() ? away_watch_.make() : nullptr, task, ended, this_thread.woke_itself);
}

// --- The end. ---

bool PoolCore::shutdown(std::chrono::nanoseconds timeout) noexcept {
  refuse_in_forked_child();
  ROUSE_ASSERT(timeout <= std::chrono::nanoseconds(0) || this_thread.pool != this,
               "waiting for the end of a runtime inside one of its own tasks would last for ever: "
               "say shutdown_background(), or let a thread of your own destroy it");
  const Deadline deadline(timeout);
  close();
  threads_.close();
  return wait_closed(deadline) && threads_.wait(deadline.left());
}

void PoolCore::close() noexcept {
  {
    Lock lock(end_mutex_);
    closing_.store(true, memory_order_relaxed);  // published by the lock, and by the unparks
    {
      const Lock outside(outside_mutex_);
      refuses_ = true;  // not only once the last loop has ended: a worker may be in a long poll
    }
    for (auto& worker : workers_) {
      if (worker->kept != Worker::Kept::yes) continue;
      worker->kept = Worker::Kept::taken_away;
      end_loop();
    }
    if (is_sweeping_) find_sweeper(lock);
  }
  for (auto& worker : workers_) worker->park.unpark(io_seat_);
}

/// Under the lock: no thread runs this worker any more.
void PoolCore::end_loop() noexcept {
  if (--loops_ != 0) return;
  is_sweeping_ = true;
  injected_.close();
  end_changed_.notify_all();
}

/// A worker's thread, or one that was, is inside no poll any more.
void PoolCore::leave(bool its_loop_ended) noexcept {
  {
    Lock lock(end_mutex_);
    if (its_loop_ended) end_loop();
    if (its_loop_ended || is_sweeping_) sweep(lock);
  }
  thread_left();
}

void PoolCore::thread_left() noexcept {
  // ORDER: acq_rel; the last one sees all that the others did.
  if (inside_.fetch_sub(1, memory_order_acq_rel) != 1) return;
  {
    const Lock lock(end_mutex_);
    // It was before, and a sweeper was found later: a worker's thread could not be started, or the
    // thread that waits for the end swept, which does not count, and blocked.
    if (std::exchange(closed_, true)) return;
    end_changed_.notify_all();
  }
  std::int64_t made = 0;
  for (auto& worker : workers_) {
    made += static_cast<std::int64_t>(worker->counters.spawned.get());
    made -= static_cast<std::int64_t>(worker->counters.freed.get());
  }
  add_ref();  // this thread's own, so that it is `release` that ends it
  // ORDER: as RefCounted.
  refs_.fetch_add(made - bias, memory_order_relaxed);
  release();
}

bool PoolCore::wait_closed(const Deadline& deadline) noexcept {
  Lock lock(end_mutex_);
  while (!closed_) {
    // A destructor may take longer than a deadline allows.
    const bool may_sweep = deadline.is_never();
    if (needs_sweeper_ && may_sweep) {
      sweep(lock);
      continue;
    }
    waiting_ += may_sweep ? 1 : 0;
    const bool is_in_time = deadline.wait(end_changed_, lock);
    waiting_ -= may_sweep ? 1 : 0;
    if (!is_in_time) return false;
  }
  return true;
}

// --- The sweep. ---

/// By a thread inside no poll. Waits for the last loop to end, and returns when somebody has taken
/// every task that was in the tables.
void PoolCore::sweep(Lock& lock) noexcept {
  const ThreadContext before = this_thread;
  this_thread = ThreadContext();
  this_thread.scheduler = this;
  this_thread.pool = this;
  this_thread.child_polls = before.child_polls;
  ++sweepers_;
  end_changed_.wait(lock, [this] { return is_sweeping_; });
  needs_sweeper_ = false;
  end_examinations();
  // First, so that threads that wait there, which tasks may wait for, go on.
  if (!std::exchange(are_drivers_closed_, true)) without(lock, [this] { close_drivers(); });
  while (TaskHeader* task = next_to_sweep()) without(lock, [&] { cancel_now(*task); });
  --sweepers_;
  this_thread = before;
}

TaskHeader* PoolCore::next_to_sweep() noexcept {
  for (; swept_tables_ <= workers_.size(); ++swept_tables_, swept_ = {}) {
    const bool is_last = swept_tables_ == workers_.size();
    const TaskTable& table = is_last ? outside_ : workers_[swept_tables_]->table;
    while (TaskHeader* task = table.next(swept_)) {
      if (!task->shared_state().is_away()) return task;
    }
  }
  return nullptr;
}

/// A step of a sweeper, in which it may block.
template <class Fn>
void PoolCore::without(Lock& lock, Fn fn) noexcept {
  this_thread.sweeps = this;
  lock.unlock();
  fn();
  lock.lock();
  if (std::exchange(this_thread.sweeps, nullptr) == nullptr) ++sweepers_;  // see begin_blocking
}

/// The sweep has begun. Makes sure that somebody sweeps, if this thread does not: it is inside a
/// poll, or blocks.
void PoolCore::find_sweeper(Lock& lock) noexcept {
  if (sweepers_ != 0 || swept_tables_ > workers_.size()) return;
  // Each thread that polls makes one sweeper wait at most, for a child that it polls.
  const bool is_allowed = sweeper_threads_ < workers_.size() + options_.threads.max_threads;
  if (is_allowed) {
    ++sweeper_threads_;
    ++sweepers_;
    lock.unlock();
    const bool is_started = start_sweeper();
    lock.lock();
    if (is_started) return;
    --sweepers_;
    --sweeper_threads_;
  }
  needs_sweeper_ = true;
  end_changed_.notify_all();
}

bool PoolCore::start_sweeper() noexcept {
  return start_inside([this] {
    return threads_.run_thread([core = RefPtr<PoolCore>::share(this)] {
      {
        Lock lock(core->end_mutex_);
        --core->sweepers_;  // `sweep` counts it
        core->sweep(lock);
        --core->sweeper_threads_;
      }
      core->thread_left();
    });
  });
}

void PoolCore::close_drivers() noexcept {
  for (auto& worker : workers_) {
    if (worker->timer_driver) worker->timer_driver->close();
  }
}

}  // namespace rouse::internal
