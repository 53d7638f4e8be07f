#include "exec/pool_core.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rouse/exec/fork_region.hpp"

#include "sys/fork.hpp"
#include "sys/heavy_fence.hpp"

namespace rouse {
namespace {

/// So many polls may pass before a worker sees that the pool is closing.
constexpr unsigned max_look_interval = 61;

}  // namespace

PoolCore::PoolCore(ThreadPoolConfig config)
    : SharedScheduler(config.threads.on_unhandled),
      config_(std::move(config)),
      idle_(config_.workers),
      watch_(model_checker ? 1 : config_.workers),  // in a model any sleep may be over at once
      driver_(config_.driver),
      forks_before_(sys::fork_count()),
      threads_(config_.threads, this) {
  ROUSE_ASSERT(config_.workers > 0 && config_.workers <= IdleWorkers::max_workers,
               "a ThreadPool needs at least one worker, and at most 32767");
  ROUSE_ASSERT(config_.global_queue_interval > 0 && config_.event_interval > 0,
               "the intervals of a ThreadPool are numbers of polls: at least 1");
  refs_.fetch_add(bias, memory_order_relaxed);
  if (config_.workers > 1) sys::prepare_heavy_fence();  // for Worker::rob, before there are threads
  for (std::size_t i = 0; i < config_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i, forked));
    workers_.back()->until_injected = config_.global_queue_interval;
    workers_.back()->until_events = config_.event_interval;
    if (config_.drivers) {
      workers_.back()->driver =
          config_.drivers->make(Unparker(unpark_worker, workers_.back().get()));
    }
  }
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

// --- A worker's thread. ---

void PoolCore::run_worker(Worker& worker) noexcept {
  const ThreadContext before = this_thread;
  this_thread = ThreadContext();
  this_thread.scheduler = this;
  this_thread.pool = this;
  this_thread.worker = &worker;
  const WithSurroundings surroundings(worker.driver.get());
  worker.counters.wake();
  Ran ran = Ran::done;
  while (ran != Ran::away) {
    TaskHeader* task = next_task(worker);
    if (task == nullptr) {
      worker.counters.stop();
      break;
    }
    worker.current = task;
    worker.counters.polls.add();
    ran = run(*task, &worker.forks);
    if (ran == Ran::again && worker.push(*task) && idle_.wants_waking()) wake_one();
  }
  leave(ran != Ran::away);
  const bool is_replaced = this_thread.is_replaced;
  this_thread = before;
  this_thread.is_replaced = is_replaced;  // for the BlockingPool
}

/// Null: the pool is closing.
TaskHeader* PoolCore::next_task(Worker& worker) {
  if (--worker.until_look == 0) [[unlikely]] {
    look_around(worker);
    if (is_closing()) return nullptr;
  }
  TaskHeader* task = worker.next();
  if (task == nullptr) [[unlikely]]
    task = find_work(worker);
  return task;
}

/// What a busy worker does now and then.
void PoolCore::look_around(Worker& worker) {
  worker.until_injected -= worker.look_interval;
  worker.until_events -= worker.look_interval;
  if (worker.until_injected == 0) {
    worker.until_injected = config_.global_queue_interval;
    if (TaskHeader* task = take_injected(worker, max_injected)) worker.put_in_queue(*task);
  }
  if (worker.until_events == 0) {
    worker.until_events = config_.event_interval;
    drive(worker);
    if (driver_.take() != nullptr) hand_out_io(worker);
  }
  worker.look_interval = std::min({worker.until_injected, worker.until_events, max_look_interval});
  worker.until_look = worker.look_interval;
  if (!worker.queue.empty() && idle_.wants_waking()) wake_one();
}

/// Gives one task and puts the others on the worker's queue: its fair part of what is there.
TaskHeader* PoolCore::take_injected(Worker& worker, std::size_t max) {
  if (injected_.empty()) return nullptr;
  const std::size_t part = injected_.size() / workers_.size() + 1;
  TaskHeader* tasks[max_injected];
  const std::size_t count = injected_.take(tasks, part < max ? part : max);
  for (std::size_t i = 1; i < count; ++i) worker.put_in_queue(*tasks[i]);
  return count == 0 ? nullptr : tasks[0];
}

/// Lets the worker's timers wake what is due. Those tasks are polled in the order they are woken.
void PoolCore::drive(Worker& worker) noexcept {
  if (!worker.driver) return;
  worker.is_driving = true;
  worker.driver->poll();
  driven(worker);
}

/// The same for I/O; the worker has the driver, and gives it back.
void PoolCore::hand_out_io(Worker& worker) noexcept {
  worker.is_driving = true;
  driver_.poll();
  driver_.give_back();
  driven(worker);
}

/// Whether another worker is needed is decided once for all that was woken: one task is not worth
/// the waking of a thread, which takes longer than most polls.
void PoolCore::driven(Worker& worker) noexcept {
  worker.is_driving = false;
  if (worker.queue.size() > 1 && idle_.wants_waking()) wake_one();
}

// --- Any thread. ---

void PoolCore::submit(TaskHeader& task) {
  try {
    keep(task);
  } catch (const std::bad_alloc&) {  // whoever joins it is told
    task.slot = &refused_;
    fail_now(task, std::current_exception());
  }
}

/// Throws std::bad_alloc: it is not kept.
void PoolCore::keep(TaskHeader& task) {
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
  if (worker == nullptr) return inject(task);
  const bool waits =
      turn == Turn::next && !worker->is_driving ? worker->push_lifo(task) : worker->push(task);
  if (waits && !worker->is_driving && idle_.wants_waking()) wake_one();
}

void Worker::leave_to_pool(TaskHeader& task) noexcept { pool.inject(task); }

void PoolCore::inject(TaskHeader& task) noexcept {
  if (injected_.push(task) && idle_.wants_waking_for_injected()) wake_one();
}

/// A worker's fork deque has something to steal.
void PoolCore::forked(void* pool) noexcept {
  auto& self = *static_cast<PoolCore*>(pool);
  if (self.idle_.wants_waking_for_fork()) self.wake_one();
}

void PoolCore::unpark_worker(void* worker) noexcept {
  auto& self = *static_cast<Worker*>(worker);
  self.park.unpark(self.pool.driver_);
}

void PoolCore::wake_one() noexcept {
  if (Worker* worker = idle_.choose()) worker->park.unpark(driver_);
}

void PoolCore::forget(TaskHeader& task) noexcept {
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
  ROUSE_ASSERT(sys::fork_count() == forks_before_,
               "a runtime is used in a forked child, where its threads do not exist: make a new "
               "runtime there, or call exec right after fork");
}

PoolMetrics PoolCore::metrics() const {
  PoolMetrics metrics;
  // First what is completed: so tasks that are spawned and end meanwhile count as alive, not as
  // less than none.
  std::uint64_t completed = outside_completed_.load(memory_order_relaxed);
  for (const auto& worker : workers_) {
    completed += worker->counters.completed.get();
    metrics.workers.push_back(worker->counters.metrics());
    metrics.workers.back().local_queue_depth = worker->depth();
  }
  metrics.spawned_tasks = outside_spawned_.load(memory_order_relaxed);
  for (const auto& worker : workers_) metrics.spawned_tasks += worker->counters.spawned.get();
  metrics.alive_tasks = difference(metrics.spawned_tasks, completed);
  metrics.injection_queue_depth = injected_.size();
  return metrics;
}

}  // namespace rouse
