// WorkerWatch: what a thread that runs tasks notes of them in watched mode (watching.hpp). The
// first thing that it watches makes one, and it is freed with the worker or the LocalExecutor: so
// who notes, and who reads with a reference to the executor, always finds it there. Its figures
// only grow, also if watching ends and begins again.
//
// PollWatch: the clock of a loop of polls that are watched, recorded (observe.hpp), or both. It is
// read once a poll: the end of one is the beginning of the next.
//
// WakeSample: one wake in 32, to know how long the task waits. It is the task's that is named: only
// who took that from a queue may empty a sample, and each who does has to, or it would be taken for
// that of a later wake. A worker that stops sampling empties its own.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

#include "exec/task/histogram.hpp"
#include "exec/task/observe.hpp"
#include "exec/task/site_table.hpp"
#include "sys/ticks.hpp"

namespace rouse::internal {

class WakeSample {
 public:
  // --- The worker's. ---

  /// The task was woken, and is about to come to a queue of this worker's.
  void woken(const TaskHeader& task) noexcept {
    if (++wakes_ % sampled_wakes == 0 && is_empty()) keep(task, sys::ticks());
  }
  /// The same of a task that was sampled elsewhere.
  void keep(const TaskHeader& task, std::uint64_t woken_at) noexcept {
    if (!is_empty()) return;
    // ORDER: release; a thief that sees it sees that the sample before was emptied.
    since_.store(woken_at, memory_order_release);
    task_.store(&task, memory_order_relaxed);  // who takes the task from the queue sees both
  }
  /// It leaves the queue. True: it was the sampled one.
  [[nodiscard]] bool took(const TaskHeader& task, std::uint64_t& woken_at) noexcept {
    if (task_.load(memory_order_relaxed) != &task) [[likely]]
      return false;
    woken_at = since_.load(memory_order_relaxed);
    clear();
    return true;
  }
  void clear() noexcept { task_.store(nullptr, memory_order_relaxed); }

  // --- Another worker's. ---

  /// It has the task. The worker may have emptied its sample meanwhile.
  [[nodiscard]] bool stole(const TaskHeader& task, std::uint64_t& woken_at) noexcept {
    const TaskHeader* sampled = task_.load(memory_order_relaxed);
    if (sampled != &task) return false;
    // ORDER: acquire; if that is of a later sample, the exchange finds this one emptied.
    woken_at = since_.load(memory_order_acquire);
    return task_.compare_exchange_strong(sampled, nullptr, memory_order_relaxed,
                                         memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t sampled_wakes = 32;
  [[nodiscard]] bool is_empty() const noexcept {
    return task_.load(memory_order_relaxed) == nullptr;
  }

  atomic<const TaskHeader*> task_{nullptr};
  atomic<std::uint64_t> since_{0};  // in ticks
  std::uint32_t wakes_ = 0;
};

class WorkerWatch {
 public:
  Histogram polls;
  Histogram delays;  // from a wake to the poll
  SiteTable sites;
  WakeSample sample;
};

/// The watch of one worker, once it is there: made by its thread, read by any.
class WatchPlace {
 public:
  WatchPlace() noexcept = default;
  WatchPlace(const WatchPlace&) = delete;
  WatchPlace& operator=(const WatchPlace&) = delete;
  ~WatchPlace() { delete watch_.load(memory_order_relaxed); }

  /// Null if there is no memory for it.
  WorkerWatch* make() noexcept;
  /// ORDER: acquire; sees it. Null: nothing was watched yet.
  [[nodiscard]] WorkerWatch* get() const noexcept { return watch_.load(memory_order_acquire); }

 private:
  atomic<WorkerWatch*> watch_{nullptr};
};

class PollWatch {
 public:
  /// Null: polls are only recorded.
  explicit PollWatch(WorkerWatch* watch) noexcept : watch_(watch), since_(sys::ticks()) {}

  /// What was done since the last poll was no poll.
  void begin_anew(WorkerWatch* watch) noexcept {
    watch_ = watch;
    since_ = sys::ticks();
  }
  /// The task was taken from a queue.
  void begin(const TaskHeader& task) noexcept {
    if (watch_ == nullptr) return;
    place_ = task.spawned_at;
    std::uint64_t woken_at = 0;
    if (watch_->sample.took(task, woken_at)) [[unlikely]]
      watch_->delays.add(sys::ns_between(woken_at, since_));
  }
  /// It is polled, and not skipped or cancelled.
  void begin_poll(const TaskHeader& task) noexcept {
    is_recorded_ = is_recording();
    if (is_recorded_) record_poll(since_, task);
  }
  /// The poll is over. `task`: null if it may be gone, or polled by another thread.
  void end(const TaskHeader* task, bool task_ended, bool woke_itself = false) noexcept {
    end_in(watch_, task, task_ended, woke_itself);
  }
  void end_in(WorkerWatch* watch, const TaskHeader* task, bool task_ended,
              bool woke_itself) noexcept {
    const std::uint64_t now = sys::ticks();
    const std::uint64_t ns = sys::ns_between(since_, now);
    since_ = now;
    if (std::exchange(is_recorded_, false)) record_poll_end(now, *task, task_ended, woke_itself);
    if (watch == nullptr) return;
    watch->polls.add(ns);
    Site& site =
        watch->sites.find(place_, [task] { return task == nullptr ? nullptr : task->name(); });
    site.add(ns, task_ended);
    if (site.is_longest(ns)) [[unlikely]]
      site.set_longest(ns, task == nullptr ? std::source_location() : last_await(*task));
  }

 private:
  [[gnu::noinline, gnu::cold]] static std::source_location last_await(
      const TaskHeader& task) noexcept;

  WorkerWatch* watch_;
  std::uint64_t since_;
  SpawnPlace place_;
  bool is_recorded_ = false;  // the poll that has begun
};

}  // namespace rouse::internal
