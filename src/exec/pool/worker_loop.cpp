// PoolCore, the loop of a worker: which task runs next. A worker takes its own tasks in the order
// that Worker::next gives (worker.hpp), and now and then, in `look_around`, looks at what else may
// have to run: tasks from outside, due timers, I/O. One that has nothing left goes to `find_work`
// (pool_idle.cpp).
#include <algorithm>

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
  this_thread.forks = &worker.forks;
  const WithDriverContext driver_context(worker.timer_driver.get());
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
}

/// Returns one task and puts the others on the worker's run queue: its fair share of the injection
/// queue.
TaskHeader* PoolCore::take_injected(Worker& worker, std::size_t max) {
  if (injected_.empty()) return nullptr;
  const std::size_t part = injected_.size() / workers_.size() + 1;
  TaskHeader* tasks[max_injected];
  const std::size_t count = injected_.take(tasks, part < max ? part : max);
  for (std::size_t i = 1; i < count; ++i) worker.put_in_queue(*tasks[i]);
  return count == 0 ? nullptr : tasks[0];
}

/// Fires the worker's due timers. The woken tasks are polled in the order of their wakes.
void PoolCore::drive(Worker& worker) noexcept {
  if (!worker.timer_driver) return;
  worker.is_driving = true;
  worker.timer_driver->poll();
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
