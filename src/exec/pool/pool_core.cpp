#include "exec/pool/pool_core.hpp"

#include <memory>
#include <new>
#include <utility>

#include "exec/task/observe.hpp"
#include "sys/heavy_fence.hpp"
#include "sys/process_fork.hpp"

namespace rouse::internal {

PoolCore::PoolCore(ThreadPoolOptions options)
    : SharedScheduler(options.threads.on_unhandled),
      Examinable(Kind::pool),
      options_(std::move(options)),
      idle_(options_.workers),
      watch_(model_checker ? 1 : options_.workers),  // in a model any sleep may be over at once
      io_seat_(options_.io_driver),
      process_forks_before_(sys::process_forks()),
      threads_(options_.threads, this) {
  ROUSE_ASSERT(options_.workers > 0 && options_.workers <= IdleWorkers::max_workers,
               "a ThreadPool needs at least one worker, and at most 32767");
  ROUSE_ASSERT(options_.global_queue_interval > 0 && options_.event_interval > 0,
               "the intervals of a ThreadPool are numbers of polls: at least 1");
  refs_.fetch_add(bias, memory_order_relaxed);
  if (options_.workers > 1)
    sys::prepare_heavy_fence();  // for Worker::rob, before there are threads
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i, branch_published));
    workers_.back()->until_injected = options_.global_queue_interval;
    workers_.back()->until_events = options_.event_interval;
    if (options_.timer_drivers) {
      workers_.back()->timer_driver =
          options_.timer_drivers->make(Unparker(unpark_worker, workers_.back().get()));
    }
  }
  enroll();
}

Result<void> PoolCore::start() {
  loops_ = workers_.size();  // nobody else is there yet
  inside_.store(workers_.size(), memory_order_relaxed);
  Result<void> result;
  for (auto& worker : workers_) {
    if (result) result = start_thread(*worker);
    if (result) continue;
    {
      const Lock lock(end_mutex_);
      end_loop();
    }
    thread_left();
  }
  return result;
}

Result<void> PoolCore::start_thread(Worker& worker) {
  try {
    return threads_.run_thread(
        [core = RefPtr<PoolCore>::share(this), &worker] { core->run_worker(worker); });
  } catch (const std::bad_alloc&) {
    return std::errc::not_enough_memory;
  }
}

void PoolCore::submit(TaskHeader& task) {
  try {
    keep(task);
  } catch (const std::bad_alloc&) {  // joining it reports that
    task.slot = &refused_;
    fail_now(task, std::current_exception());
  }
}

/// Throws std::bad_alloc: it is not kept.
void PoolCore::keep(TaskHeader& task) {
  note_spawn(task);
  if (Worker* worker = own_worker()) {
    worker->counters.spawned.add();
    worker->table.insert(task);
    if (worker->push_lifo(task) && idle_.wants_waking()) wake_one();
    return;
  }
  refuse_in_forked_child();
  add_ref();
  outside_spawned_.fetch_add(1, memory_order_relaxed);
  {
    const Lock lock(outside_mutex_);
    if (!refuses_) {
      // Under the lock: whoever closes finds the task in the table, or it is refused.
      outside_.insert(task);
      return inject(task);
    }
  }
  task.slot = &refused_;
  cancel_now(task);
}

void PoolCore::enqueue(TaskHeader& task, Turn turn) noexcept {
  Worker* worker = own_worker();
  if (worker == nullptr || worker->is_observed) [[unlikely]]
    return enqueue_noted(task, turn);
  enqueue_here(*worker, task, turn);
}

/// By another thread, or while this worker's polls are observed. Noted first: then others may have
/// the task. By a thread that has lost its worker, only if there is no sweep yet: the task may be
/// gone otherwise.
void PoolCore::enqueue_noted(TaskHeader& task, Turn turn) noexcept {
  Worker* worker = own_worker();
  if (worker == nullptr) return injected(injected_.push(task, [&] { note_wake(task); }));
  note_wake(task);
  if (worker->samples_wakes) worker->watch.get()->sample.woken(task);
  enqueue_here(*worker, task, turn);
}

[[gnu::always_inline]] inline void PoolCore::enqueue_here(Worker& worker, TaskHeader& task,
                                                          Turn turn) noexcept {
  const bool waits =
      turn == Turn::next && !worker.is_driving ? worker.push_lifo(task) : worker.push(task);
  if (waits && !worker.is_driving && idle_.wants_waking()) wake_one();
}

void Worker::leave_to_pool(TaskHeader& task) noexcept {
  forget_sample(task);
  pool.inject(task);
}

void PoolCore::inject(TaskHeader& task) noexcept { injected(injected_.push(task)); }

void PoolCore::injected(bool is_accepted) noexcept {
  if (is_accepted && idle_.wants_waking_for_injected()) wake_one();
}

/// A worker's fork deque has something to steal.
void PoolCore::branch_published(void* pool) noexcept {
  auto& self = *static_cast<PoolCore*>(pool);
  if (self.idle_.wants_waking_for_fork()) self.wake_one();
}

void PoolCore::unpark_worker(void* worker) noexcept {
  auto& self = *static_cast<Worker*>(worker);
  self.park.unpark(self.pool.io_seat_);
}

void PoolCore::wake_one() noexcept {
  if (Worker* worker = idle_.choose()) worker->park.unpark(io_seat_);
}

void PoolCore::untrack(TaskHeader& task) noexcept {
  if (Worker* worker = own_worker()) {
    TaskTable::erase(task);
    worker->counters.completed.add();
    return;
  }
  {
    const Lock lock(end_mutex_);  // a sweeper may be looking at it
    TaskTable::erase(task);
  }
  outside_completed_.fetch_add(1, memory_order_relaxed);
}

void PoolCore::freed() noexcept {
  if (Worker* worker = own_worker()) {
    worker->counters.freed.add();
  } else {
    release();
  }
}

void PoolCore::refuse_in_forked_child() const noexcept {
  ROUSE_ASSERT(sys::process_forks() == process_forks_before_,
               "a runtime is used in a forked child, where its threads do not exist: make a new "
               "runtime there, or call exec right after fork");
}

WorkerMetrics PoolCore::worker(std::size_t index) const noexcept {
  WorkerMetrics metrics = workers_[index]->counters.metrics();
  metrics.local_queue_depth = workers_[index]->depth();
  return metrics;
}

SchedulerMetrics PoolCore::figures() const noexcept {
  SchedulerMetrics metrics;
  // First what is completed: so tasks that are spawned and end meanwhile count as alive, not as
  // less than none.
  std::uint64_t completed = outside_completed_.load(memory_order_relaxed);
  for (const auto& worker : workers_) completed += worker->counters.completed.get();
  metrics.spawned_tasks = outside_spawned_.load(memory_order_relaxed);
  for (const auto& worker : workers_) metrics.spawned_tasks += worker->counters.spawned.get();
  metrics.alive_tasks = difference(metrics.spawned_tasks, completed);
  metrics.injection_queue_depth = injected_.size();
  metrics.injected_tasks = injected_.pushed();
  metrics.has_io = options_.timer_drivers != nullptr;
  if (metrics.has_io) metrics.io = options_.timer_drivers->io_metrics();
  return metrics;
}

/// The last is of polls whose threads lost their workers.
bool PoolCore::find_watch(std::size_t index, const WorkerWatch*& watch) const noexcept {
  if (index > workers_.size()) return false;
  watch = index == workers_.size() ? away_watch_.get() : workers_[index]->watch.get();
  return true;
}

PoolMetrics PoolCore::metrics() const {
  const SchedulerMetrics figures = this->figures();
  PoolMetrics metrics;
  metrics.spawned_tasks = figures.spawned_tasks;
  metrics.alive_tasks = figures.alive_tasks;
  metrics.injection_queue_depth = figures.injection_queue_depth;
  metrics.injected_tasks = figures.injected_tasks;
  for (std::size_t i = 0; i < workers_.size(); ++i) metrics.workers.push_back(worker(i));
  return metrics;
}

}  // namespace rouse::internal
