// Worker: what one worker of a ThreadPool owns: its queues, its table of tasks, its counters. The
// thread that runs it may change (block_in_place hands the worker to another thread).
//
// Who is polled next, and the bound that follows (tests/exec/fairness_test.cpp):
//  - `lifo`: the task woken or spawned last, because its data is in the cache. After
//    `max_lifo_polls` of these in a row the queue has its turn, if anybody waits there.
//  - the queue, first in first out; `taken` holds the few oldest of it. A task that yields, and the
//    task that is pushed out of `lifo`, go to its end.
//  - every `global_queue_interval` polls some tasks of the injection queue are put at the end of
//    the queue.
// A task with k tasks before it in the queue is thus polled within (k + 1) * (max_lifo_polls + 1)
// polls of its worker.
//
// `lifo` and `taken` can be robbed: if a poll takes long, a thief takes what waits there. The owner
// pays nothing for it but a look at `was_robbed_`, after each step in which it takes a task from
// there: a store to `lifo_` or `taken_next_`, a light fence, the look. The thief, under the lock,
// marks, makes a heavy fence, then reads the two. Of each of the owner's steps one of these holds:
//  - its look came before the heavy fence (which is a fence on the owner's thread, too): then so
//    did its store, and the thief reads it: the task is the owner's.
//  - its look comes after: it sees the mark, and asks under the lock what the thief has read. If
//    that was the state before the step, the task is the thief's.
// The mark stays until the owner has asked, so it makes at most one step after the fence. Only the
// owner writes `lifo_` and `taken_next_`; what was robbed stays in there until it has asked. The
// slots of `taken_` are rewritten only when all are taken: after such a step, too.
// tests/model/robbery_test.cpp has the models.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "rouse/base/internal/recording.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/exec/internal/fork_deque.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/exec/internal/timer_driver.hpp"

#include "exec/park/worker_park.hpp"
#include "exec/pool/current_task.hpp"
#include "exec/pool/local_queue.hpp"
#include "exec/task/poll_under_way.hpp"
#include "exec/task/task_table.hpp"
#include "exec/task/watching.hpp"
#include "exec/task/worker_counters.hpp"
#include "exec/task/worker_watch.hpp"

namespace rouse::internal {

class PoolCore;

class Worker {
 public:
  static constexpr unsigned max_lifo_polls = 3;
  /// How many tasks leave the queue at once, with one read-modify-write.
  static constexpr std::size_t take_at_once = model_checker ? 2 : 8;
  static constexpr std::size_t max_robbed = 1 + take_at_once;

  /// `published` is called, on the worker's thread, when there is something anew to steal in
  /// `forks`.
  Worker(PoolCore& of, std::size_t number, ForkDeque::PublishedFn published)
      : pool(of),
        forks(published, &of),
        random_(static_cast<std::uint32_t>(number) * 2654435761U + 1) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// A task that was woken or spawned here. True: a task now waits in the queue.
  bool push_lifo(TaskHeader& task) {
    TaskHeader* pushed_out = lifo_.load(memory_order_relaxed);
    put_in_lifo(task);
    if (pushed_out == nullptr) return false;
    light_fence();
    if (was_robbed_.load(memory_order_relaxed)) [[unlikely]] {
      if (was_robbed_of_pushed_out(*pushed_out)) return false;
    }
    put_in_queue(*pushed_out);
    return true;
  }

  /// A task that waits its turn. True: it is not the only one of this worker.
  bool push(TaskHeader& task) {
    if (!has_own_work()) {
      put_in_lifo(task);  // first and last: spares the queue
      lifo_polls_ = 0;    // nobody waits: it comes before those that are pushed after it
      return false;
    }
    put_in_queue(task);
    return true;
  }

  /// A queue that can't grow leaves the task to the pool, whose list needs no memory.
  void put_in_queue(TaskHeader& task) noexcept {
    if (!queue.push(task)) [[unlikely]]
      leave_to_pool(task);
  }

  /// The next task of this worker's own; null if there is none.
  TaskHeader* next() noexcept {
    for (;;) {
      TaskHeader* task = take();
      light_fence();
      if (!was_robbed_.load(memory_order_relaxed)) [[likely]]
        return task;
      if (!was_robbed_of_taken()) return task;
    }
  }

  /// For a thief: takes what waits in `lifo` and `taken`, and gives it: a part of `out`. Dear.
  std::span<TaskHeader*> rob(std::span<TaskHeader*, max_robbed> out) noexcept;

  /// For another worker: where to begin a search.
  std::uint32_t random() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }
  bool has_own_work() const noexcept {
    return lifo_.load(memory_order_relaxed) != nullptr ||
           taken_next_.load(memory_order_relaxed) != take_at_once || !queue.empty();
  }
  std::size_t depth() const noexcept { return queue.size(); }

  PoolCore& pool;
  LocalQueue queue;
  ForkDeque forks;
  TaskTable table;
  WorkerPark park;
  internal::Box<TimerDriver> timer_driver;  // its timers; null if the pool has none
  bool is_driving = false;                  // what is woken now was waited for there
  CurrentTask current;
  PolledBy polled_by;  // not a thread that blocks
  enum class Kept : std::uint8_t { no, yes, taken_away };
  Kept kept = Kept::no;  // by a thread that blocks; under the pool's end_mutex_
  WorkerCounters counters;
  WatchPlace watch;
  bool is_watched = false;      // its polls are to be noted there
  bool is_observed = false;     // that, or to be recorded: see PoolCore::run_observed
  bool samples_wakes = false;   // they are noted now
  TaskHeader* first = nullptr;  // the loop that observes begins with it

  void look_for_observers() noexcept {
    is_watched = is_watching() && watch.make() != nullptr;
    is_observed = is_watched || is_recording();
  }
  /// For the loop that observes: null, if polls are only recorded.
  WorkerWatch* begin_sampling() noexcept {
    if (!is_watched) {
      stop_sampling();
      return nullptr;
    }
    samples_wakes = true;
    return watch.get();
  }
  void stop_sampling() noexcept {
    if (std::exchange(samples_wakes, false)) watch.get()->sample.clear();
  }
  /// The task leaves this worker's queues.
  void forget_sample(const TaskHeader& task) noexcept {
    std::uint64_t woken_at = 0;
    if (samples_wakes) (void)watch.get()->sample.took(task, woken_at);
  }
  /// For a thief that has a task of `from`, and will put it on this worker's queue or poll it.
  void take_sample(const Worker& from, const TaskHeader& task) noexcept {
    WorkerWatch* const its = from.watch.get();
    std::uint64_t woken_at = 0;
    if (its == nullptr || !its->sample.stole(task, woken_at)) [[likely]]
      return;
    if (samples_wakes) watch.get()->sample.keep(task, woken_at);
  }

  // See PoolCore::search.
  static constexpr unsigned most_search_rounds = model_checker ? 0 : 64;
  unsigned searches = 0;
  unsigned search_rounds = 0;

  // Polls until the worker looks at other things than its own tasks (PoolCore::look_around).
  unsigned until_look = 1;
  unsigned look_interval = 0;
  unsigned until_injected = 0;
  unsigned until_events = 0;

 private:
  void leave_to_pool(TaskHeader& task) noexcept;

  // ORDER: release; publishes the task to a thief.
  void put_in_lifo(TaskHeader& task) noexcept { lifo_.store(&task, memory_order_release); }
  TaskHeader* take() noexcept {
    TaskHeader* const lifo = lifo_.load(memory_order_relaxed);
    if (lifo != nullptr && lifo_polls_ < max_lifo_polls) {
      ++lifo_polls_;
      lifo_.store(nullptr, memory_order_relaxed);
      return lifo;
    }
    lifo_polls_ = 0;
    std::size_t next = taken_next_.load(memory_order_relaxed);
    if (next == take_at_once) {
      next -= queue.take(taken_).size();
      if (next == take_at_once) {
        if (lifo != nullptr) lifo_.store(nullptr, memory_order_relaxed);
        return lifo;
      }
    }
    // ORDER: release; publishes the tasks behind this one to a thief.
    taken_next_.store(next + 1, memory_order_release);
    if (next + 1 != take_at_once) __builtin_prefetch(taken_[next + 1]);
    return taken_[next];
  }

  /// The owner saw the mark after it took a task. True: a thief has that task.
  [[gnu::cold]] bool was_robbed_of_taken() noexcept;
  /// The same after it pushed one out of `lifo`.
  [[gnu::cold]] bool was_robbed_of_pushed_out(const TaskHeader& task) noexcept;

  atomic<TaskHeader*> lifo_{nullptr};
  unsigned lifo_polls_ = 0;  // in a row
  atomic<bool> was_robbed_{false};
  atomic<std::size_t> taken_next_{take_at_once};
  std::array<TaskHeader*, take_at_once> taken_;  // the last ones of these, from `taken_next_` on
  std::uint32_t random_;

  Mutex robbery_;                           // guards what thieves have, until the owner has asked:
  TaskHeader* robbed_lifo_ = nullptr;       // which was in `lifo_`
  std::size_t robbed_from_ = take_at_once;  // from here on those in `taken_`
};

}  // namespace rouse::internal
