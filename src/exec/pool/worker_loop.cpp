// PoolCore, the loop of a worker: which task runs next. A worker takes its own tasks in the order
// that Worker::next gives (worker.hpp), and now and then, in `look_around`, looks at what else may
// have to run: tasks from outside, due timers, I/O. One that has nothing left goes to `find_work`
// (pool_idle.cpp).
#include <algorithm>
#include <utility>

#include "exec/pool/pool_core.hpp"

namespace rouse::internal {
namespace {

/// The most polls before a worker notices that the pool is closing.
constexpr unsigned max_look_interval = 61;
/// How much work that waits is worth waking another worker.
constexpr std::uint64_t worth_waking_ns = 30'000;

}  // namespace

void PoolCore::run_worker(Worker& worker) noexcept {
  const ThreadContext before = this_thread;
  this_thread = ThreadContext();
  this_thread.scheduler = this;
  this_thread.pool = this;
  this_thread.worker = &worker;
  this_thread.counters = &worker.counters;
  this_thread.forks = &worker.forks;
  const WithDriverContext driver_context(worker.timer_driver.get());
  worker.counters.wake();
  worker.polled_by.begin();
  worker.stop_sampling();  // of the thread that had it before
  Ran ran = worker.is_observed ? run_observed(worker) : Ran::done;
  while (ran != Ran::away) {
    TaskHeader* task = next_task(worker);
    if (task == nullptr) {
      if (!is_closing()) {
        ran = run_observed(worker);
        continue;
      }
      worker.counters.stop();
      worker.polled_by.end();
      break;
    }
    worker.current.begin(*task);
    worker.counters.polls.add();
    ran = run(*task, &worker.forks);
    if (ran == Ran::again && worker.push(*task) && idle_.wants_waking()) wake_one();
  }
  leave(ran != Ran::away);
  const bool is_replaced = this_thread.is_replaced;
  this_thread = before;
  this_thread.is_replaced = is_replaced;  // for the BlockingPool
}

/// Null: the pool is closing, or polls are observed from now on.
TaskHeader* PoolCore::next_task(Worker& worker) {
  if (--worker.until_look == 0) [[unlikely]] {
    look_around(worker);
    if (is_closing() || worker.is_observed) return nullptr;
  }
  TaskHeader* task = worker.next();
  if (task == nullptr) [[unlikely]] {
    task = find_work(worker);
    if (worker.is_observed) worker.first = std::exchange(task, nullptr);
  }
  return task;
}

/// The loop of a worker whose polls are watched or recorded: while that is so, the pool is not
/// closing, and this thread has the worker.
PoolCore::Ran PoolCore::run_observed(Worker& worker) noexcept {
  PollWatch watch(worker.begin_sampling());
  TaskHeader* task = std::exchange(worker.first, nullptr);
  for (;;) {
    if (task == nullptr) task = next_observed_task(worker, watch);
    if (task == nullptr) break;
    worker.current.begin(*task);
    worker.counters.polls.add();
    watch.begin(*task);
    const Ran ran = SharedScheduler::run_observed(*task, &worker.forks, watch);
    if (ran == Ran::away) return ran;  // another thread has the worker, and its samples
    if (ran == Ran::again) {
      if (worker.samples_wakes) worker.watch.get()->sample.woken(*task);
      if (worker.push(*task) && idle_.wants_waking()) wake_one();
    }
    task = nullptr;
  }
  worker.stop_sampling();
  return Ran::done;
}

/// Null: the loop ends.
TaskHeader* PoolCore::next_observed_task(Worker& worker, PollWatch& watch) {
  if (--worker.until_look == 0) [[unlikely]] {
    look_around(worker);
    if (is_closing() || !worker.is_observed) return nullptr;
    watch.begin_anew(worker.begin_sampling());
  }
  TaskHeader* task = worker.next();
  if (task == nullptr) [[unlikely]] {
    task = find_work(worker);
    watch.begin_anew(worker.begin_sampling());
    if (!worker.is_observed) worker.until_look = 1;  // after this one
  }
  return task;
}

/// What a busy worker does now and then.
void PoolCore::look_around(Worker& worker) {
  worker.until_injected -= worker.look_interval;
  worker.until_events -= worker.look_interval;
  if (worker.until_injected == 0) {
    worker.until_injected = options_.global_queue_interval;
    if (TaskHeader* task = take_injected(worker, max_injected)) worker.put_in_queue(*task);
  }
  if (worker.until_events == 0) {
    worker.until_events = options_.event_interval;
    drive(worker);
    if (io_seat_.take() != nullptr) dispatch_io(worker);
  }
  worker.look_interval = std::min({worker.until_injected, worker.until_events, max_look_interval});
  worker.until_look = worker.look_interval;
  if (!worker.queue.empty() && idle_.wants_waking()) wake_one();
  worker.look_for_observers();
}

/// Returns one task and puts the others on the worker's run queue: its fair share of the injection
/// queue.
TaskHeader* PoolCore::take_injected(Worker& worker, std::size_t max) {
  if (injected_.empty()) return nullptr;
  const std::size_t part = injected_.size() / workers_.size() + 1;
  TaskHeader* tasks[max_injected];
  InjectionQueue::Sampled sampled;
  const std::size_t count = injected_.take(tasks, part < max ? part : max, sampled);
  if (sampled.task != nullptr && worker.samples_wakes) {
    worker.watch.get()->sample.keep(*sampled.task, sampled.woken_at);
  }
  for (std::size_t i = 1; i < count; ++i) worker.put_in_queue(*tasks[i]);
  return count == 0 ? nullptr : tasks[0];
}

/// Fires the worker's due timers. The woken tasks are polled in the order of their wakes.
void PoolCore::drive(Worker& worker) noexcept {
  if (!worker.timer_driver) return;
  worker.is_driving = true;
  worker.counters.timers_fired.add(worker.timer_driver->poll());
  driven(worker);
}

/// The same for I/O; the worker has the seat, and gives it back.
void PoolCore::dispatch_io(Worker& worker) noexcept {
  worker.is_driving = true;
  io_seat_.poll();
  io_seat_.give_back();
  driven(worker);
}

/// Decides once for all woken tasks whether another worker is needed: one task is not worth waking
/// a thread, nor are several that take less time together than waking it does. (If they take longer
/// than polls did of late, the watcher comes.)
void PoolCore::driven(Worker& worker) noexcept {
  worker.is_driving = false;
  const std::size_t waiting = worker.queue.size();
  if (waiting > 1 && waiting * worker.counters.poll_ns() > worth_waking_ns && idle_.wants_waking())
    wake_one();
}

}  // namespace rouse::internal
