// PoolCore, the idle part of a worker: it searches, sleeps, and helps workers in a long poll.
#include <algorithm>
#include <array>
#include <span>

#include "rouse/exec/internal/fork_region.hpp"

#include "base/recorder.hpp"
#include "exec/pool/pool_core.hpp"
#include "sys/clock.hpp"

namespace rouse::internal {

using recorder::record;
using recorder::What;
namespace {

/// The most tasks that a thief steals at once.
constexpr std::size_t max_stolen = 128;
/// How often a worker searches before it sleeps. Waking a thread costs as much as many searches,
/// but searching pays only where it finds something. So a worker that found nothing searches half
/// as often the next time, and one in `probe_interval` of its searches is longer, to find out. Its
/// first search is short: it begins beside others that do, and 64 rounds take 50 us of a CPU.
constexpr unsigned probe_interval = 32;
constexpr unsigned probe_rounds = 16;

}  // namespace

TaskHeader* PoolCore::find_work(Worker& worker) {
  drive(worker);
  if (TaskHeader* task = worker.next()) return task;
  worker.current.rest();
  bool searching = idle_.start_search();
  for (;;) {
    if (searching) {
      if (TaskHeader* task = search(worker)) {
        leave_watch(worker);
        return task;
      }
    }
    searching = sleep(worker, searching);
    if (is_closing()) return nullptr;
    if (TaskHeader* task = worker.next()) {
      if (searching) stop_search();
      leave_watch(worker);
      return task;
    }
    if (!searching) searching = idle_.start_search();
  }
}

/// For a worker that counts as searching; it no longer does if it finds something.
TaskHeader* PoolCore::search(Worker& worker) {
  const bool is_probe = ++worker.searches % probe_interval == 0;
  const unsigned rounds =
      is_probe ? std::max(worker.search_rounds, probe_rounds) : worker.search_rounds;
  for (unsigned round = 0;; ++round) {
    TaskHeader* task = take_injected(worker, max_injected);
    if (task == nullptr) task = steal(worker);
    if (task != nullptr) {
      if (round != 0) worker.search_rounds = Worker::most_search_rounds;
      stop_search();
      return task;
    }
    if (round == rounds || is_closing()) break;
    for (int i = 0; i < 16; ++i) spin_hint();
  }
  worker.search_rounds /= 2;
  return nullptr;
}

/// A searcher found something. Whoever had a task meanwhile relied on it: if it was the last
/// searcher, and there is more, another one is to search. (Without this look each task from outside
/// would wake two workers, and the first would make its task wait while it wakes the second.)
void PoolCore::stop_search() noexcept {
  if (idle_.stop_search() && is_work_left() && idle_.wants_waking()) wake_one();
}

TaskHeader* PoolCore::steal(Worker& thief) {
  const std::size_t count = workers_.size();
  if (count == 1) return nullptr;
  const std::size_t start = thief.random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    Worker& victim = *workers_[(start + i) % count];
    if (&victim == &thief) continue;
    if (Frame* branch = victim.forks.steal()) {
      thief.counters.steals.add();
      thief.counters.stolen_tasks.add();
      record(What::steal, 0, 1);
      promote_branch(*branch);  // a task of this worker's now
      return thief.next();
    }
    TaskHeader* tasks[max_stolen];
    const std::size_t stolen = victim.queue.steal(tasks, max_stolen);
    if (stolen == 0) continue;
    for (std::size_t k = 0; k < stolen; ++k) thief.take_sample(victim, *tasks[k]);
    for (std::size_t k = 1; k < stolen; ++k) thief.put_in_queue(*tasks[k]);
    thief.counters.steals.add();
    thief.counters.stolen_tasks.add(stolen);
    record(What::steal, 0, stolen);
    return tasks[0];
  }
  return nullptr;
}

/// True: it was woken to search. False: it has work of its own, or no reason.
bool PoolCore::sleep(Worker& worker, bool was_searching) {
  if (options_.on_thread_park) options_.on_thread_park();  // before: it may spawn
  idle_.sleep(worker, was_searching, watch_.is_watcher(worker));
  if (is_work_left() && idle_.wants_waking()) wake_one();
  record(What::park);
  worker.counters.sleep();
  bool has_seat = false;
  bool watches = false;
  // Who was chosen to be woken meanwhile is unparked, too, so the first park returns at once.
  while (!is_closing() && !worker.has_own_work()) {
    const std::chrono::nanoseconds time = time_to_sleep(worker);
    if (time <= std::chrono::nanoseconds(0)) break;
    watches = begin_watch(worker);
    has_seat = worker.park.park(io_seat_, watches ? std::min(time, StallWatch::interval) : time);
    if (watches || has_seat || !idle_.is_sleeping(worker)) break;
  }
  worker.counters.wake();
  record(What::unpark);
  const bool was_chosen = !idle_.wake_up(worker);
  if (options_.on_thread_unpark) options_.on_thread_unpark();
  worker.look_for_observers();
  // It has left the sleepers, so that it wakes another worker for its tasks.
  if (watches) help_stuck(worker);
  if (has_seat) dispatch_io(worker);
  drive(worker);
  return was_chosen;
}

/// For workers in a long poll: fires their timers, and takes the tasks behind that poll. (Any
/// search finds what is in their queues.)
void PoolCore::help_stuck(Worker& helper) noexcept {
  watch_.begin_look();
  helper.is_driving = true;
  const std::uint64_t now = sys::monotonic_ns();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& stuck = *workers_[i];
    if (&stuck == &helper || !watch_.look_at(i, stuck.counters, now)) continue;
    if (stuck.timer_driver) helper.counters.timers_fired.add(stuck.timer_driver->poll_for_owner());
    std::array<TaskHeader*, Worker::max_robbed> room;
    const std::span<TaskHeader*> robbed = stuck.rob(room);
    if (robbed.empty()) continue;
    for (TaskHeader* task : robbed) {
      helper.take_sample(stuck, *task);
      helper.put_in_queue(*task);
    }
    helper.counters.steals.add();
    helper.counters.stolen_tasks.add(robbed.size());
    record(What::steal, 0, robbed.size());
  }
  driven(helper);
}

/// True: the worker sleeps only for an interval. It first records how far the others are.
bool PoolCore::begin_watch(Worker& worker) noexcept {
  const bool did_before = watch_.is_watcher(worker);
  if (!watch_.begin(worker, idle_)) return false;
  if (did_before) return true;
  idle_.wake_last(worker);
  const std::uint64_t now = sys::monotonic_ns();
  for (std::size_t i = 0; i < workers_.size(); ++i) watch_.look_at(i, workers_[i]->counters, now);
  return true;
}

/// The worker starts to work: if there are sleepers, one of them must watch.
void PoolCore::leave_watch(Worker& worker) noexcept {
  if (!watch_.leave(worker) || idle_.sleeping() == 0) return;
  if (Worker* sleeper = idle_.last_sleeper()) sleeper->park.unpark(io_seat_);
}

std::chrono::nanoseconds PoolCore::time_to_sleep(Worker& worker) noexcept {
  if (!worker.timer_driver) return Park::for_ever;
  return worker.timer_driver->until_next(worker.timer_driver->is_paused() && nothing_runs());
}

/// Whether a worker that goes to sleep is the only thread of this pool, and nothing is to be done.
bool PoolCore::nothing_runs() noexcept {
  // ORDER: acquire; sees the task that a thread put on a queue before it left.
  if (workers_.size() > 1 || inside_.load(memory_order_acquire) > 1) return false;
  // An examiner may have a task that is to be polled.
  if (handed_over_.is_wanted()) return false;
  // In this order: a call tells its task before it ends.
  return threads_.is_idle() && !is_work_left();
}

bool PoolCore::is_work_left() const noexcept {
  if (!injected_.empty()) return true;
  for (const auto& worker : workers_) {
    if (!worker->queue.empty() || worker->forks.has_public()) return true;
  }
  return false;
}

}  // namespace rouse::internal
