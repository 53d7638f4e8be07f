// Worker: what one worker of a ThreadPool owns: its queues, its table of tasks, its counters. The
// thread that runs it may change (block_in_place gives the worker to another thread).
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rouse/exec/driver.hpp"
#include "rouse/exec/fork_deque.hpp"
#include "rouse/exec/task_header.hpp"

#include "exec/local_queue.hpp"
#include "exec/task_table.hpp"
#include "exec/worker_counters.hpp"
#include "exec/worker_park.hpp"

namespace rouse {

class PoolCore;

class Worker {
 public:
  static constexpr unsigned max_lifo_polls = 3;

  /// `published` is called, on the worker's thread, when there is something anew to steal in
  /// `forks`.
  Worker(PoolCore& of, std::size_t number, ForkDeque::PublishedFn published)
      : pool(of),
        forks(published, &of),
        random_(static_cast<std::uint32_t>(number) * 2654435761U + 1) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// A task that was woken or spawned here. True: somebody now waits in the queue.
  bool push_lifo(TaskHeader& task) {
    TaskHeader* pushed_out = lifo_;
    lifo_ = &task;
    if (pushed_out == nullptr) return false;
    put_in_queue(*pushed_out);
    return true;
  }

  /// A task that waits its turn. True: it is not the only one of this worker.
  bool push(TaskHeader& task) {
    if (!has_own_work()) {
      lifo_ = &task;    // first and last: spares the queue
      lifo_polls_ = 0;  // nobody waits: it comes before those that are pushed after it
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
    if (lifo_ != nullptr && lifo_polls_ < max_lifo_polls) {
      ++lifo_polls_;
      return take_lifo();
    }
    lifo_polls_ = 0;
    if (taken_next_ == taken_end_) {
      taken_next_ = 0;
      taken_end_ = queue.take(taken_, take_at_once);
      if (taken_end_ == 0) return take_lifo();
    }
    TaskHeader* task = taken_[taken_next_++];
    if (taken_next_ != taken_end_) __builtin_prefetch(taken_[taken_next_]);
    return task;
  }

  /// For another worker: where to begin a search.
  std::uint32_t random() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }
  bool has_own_work() const noexcept {
    return lifo_ != nullptr || taken_next_ != taken_end_ || !queue.empty();
  }
  std::size_t depth() const noexcept { return queue.size(); }

  PoolCore& pool;
  LocalQueue queue;
  ForkDeque forks;
  TaskTable table;
  WorkerPark park;
  std::unique_ptr<Driver> driver;  // its timers; null if the pool has none
  bool is_driving = false;         // what is woken now was waited for in `driver`
  TaskHeader* current = nullptr;   // the task that is run
  WorkerCounters counters;

  // See PoolCore::search.
  static constexpr unsigned most_search_rounds = model_checker ? 0 : 64;
  unsigned searches = 0;
  unsigned search_rounds = most_search_rounds;

  // Polls until the worker looks at other things than its own tasks (PoolCore::look_around).
  unsigned until_look = 1;
  unsigned look_interval = 0;
  unsigned until_injected = 0;
  unsigned until_events = 0;

 private:
  /// So many tasks leave the queue at once, with one read-modify-write. They can't be stolen: if a
  /// poll takes long, those behind it wait.
  static constexpr std::size_t take_at_once = 8;

  void leave_to_pool(TaskHeader& task) noexcept;
  TaskHeader* take_lifo() noexcept {
    TaskHeader* task = lifo_;
    lifo_ = nullptr;
    return task;
  }

  TaskHeader* lifo_ = nullptr;
  unsigned lifo_polls_ = 0;  // in a row
  std::size_t taken_next_ = 0;
  std::size_t taken_end_ = 0;
  TaskHeader* taken_[take_at_once];
  std::uint32_t random_;
};

}  // namespace rouse
