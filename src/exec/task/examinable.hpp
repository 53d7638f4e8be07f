// Examinable: a scheduler whose tasks can be looked at, from any thread, without polling them: what
// a dump is made of. All that there are in the process are in one list.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/internal/ring.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/exec/pool_metrics.hpp"

#include "exec/task/poll_under_way.hpp"

namespace rouse::internal {

/// A task as an examiner sees it.
struct SeenTask {
  enum class State : std::uint8_t {
    idle,      // until it is woken
    queued,    // it was woken, and waits for its turn
    running,   // it is polled
    blocking,  // it is polled by a thread that said that it blocks
  };
  SeenTask(const TaskHeader& seen, State in, bool still, std::int64_t wakers_left = -1) noexcept
      : id(seen.id()),
        name(seen.name()),
        spawned_at(seen.spawned_at),
        task(still ? &seen : nullptr),
        state(in),
        wakers(wakers_left) {}
  SeenTask(TaskId seen, const char* its_name, SpawnPlace where, State in) noexcept
      : id(seen), name(its_name), spawned_at(where), task(nullptr), state(in), wakers(-1) {}

  TaskId id;
  const char* name;  // null: it has none
  SpawnPlace spawned_at;
  const TaskHeader* task;  // null: it is polled, so its future must not be read
  State state;
  std::int64_t wakers;  // that are left of an idle task; -1: nobody knows
};

constexpr std::uint32_t tag_of(TaskId id) noexcept { return static_cast<std::uint32_t>(id); }
/// Of ids in order of their tags: the first with this tag or a later one.
inline auto find_tag(std::span<const TaskId> ids, std::uint32_t tag) noexcept {
  return std::partition_point(ids.begin(), ids.end(),
                              [tag](TaskId id) { return tag_of(id) < tag; });
}
inline bool is_among(std::span<const TaskId> ids, TaskId id) noexcept {
  for (auto at = find_tag(ids, tag_of(id)); at != ids.end() && tag_of(*at) == tag_of(id); ++at) {
    if (*at == id) return true;
  }
  return false;
}

/// Called while the task is held, and for a blocking call under the lock of its pool: so it is to
/// be quick, and take no lock of an executor.
class TaskVisitor {
 public:
  virtual void see(const SeenTask& task) = 0;
  /// The tasks of this scheduler can't be read now.
  virtual void cannot_see(const char* why) = 0;
  /// A task that was polled all the time, and what is known of that poll.
  virtual void see_running(const SeenTask& task, const PollUnderWay&) { see(task); }
  /// The tasks of this scheduler can't be read, and why that is may be this poll.
  virtual void see_stuck(const PollUnderWay&) {}

 protected:
  ~TaskVisitor() = default;
};

class WorkerWatch;

/// What there is to say of one scheduler; of some kinds only a part.
struct SchedulerMetrics {
  std::uint64_t spawned_tasks = 0;
  std::uint64_t alive_tasks = 0;
  std::size_t injection_queue_depth = 0;
  std::uint64_t injected_tasks = 0;
  BlockingMetrics blocking;  // of a blocking pool
  bool has_io = false;
  IoMetrics io;
};

class Examinable : RingLink {
 public:
  Examinable(const Examinable&) = delete;
  Examinable& operator=(const Examinable&) = delete;

  enum class Kind : std::uint8_t { pool, local, blocking };
  Kind kind() const noexcept { return kind_; }
  /// Any thread, one at a time (ExamineAll). Waits so long for tasks that are being polled.
  virtual void examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) = 0;

  static constexpr std::size_t most_at_once = 4096;
  /// Shows these tasks, in order of their tags, all at one moment: no task of them is polled
  /// between two of them. Shows none if one is gone or not idle, or without memory.
  virtual void examine_at_once(std::span<const TaskId> ids, TaskVisitor& visitor) = 0;

  /// Shows the polls that may be under way.
  virtual void show_polls(PollVisitor&) noexcept {}

  virtual void release_examined() noexcept = 0;

  // --- Its figures. Any thread, without memory. ---

  /// Stays the same, and no other of the process has it: 1, 2, ... in the order of their making.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] virtual SchedulerMetrics figures() const noexcept = 0;
  [[nodiscard]] virtual std::size_t workers() const noexcept { return 0; }
  [[nodiscard]] virtual WorkerMetrics worker(std::size_t) const noexcept { return {}; }
  /// The index-th of those that note polls, from 0 on: null if it notes none. False: there is none.
  virtual bool find_watch(std::size_t, const WorkerWatch*&) const noexcept { return false; }

 protected:
  explicit Examinable(Kind kind) noexcept : kind_(kind) {}
  virtual ~Examinable() = default;

  /// When it is whole; before it is destroyed.
  void enroll() noexcept;
  void withdraw() noexcept;
  /// Another reference, unless the last one is gone.
  virtual bool try_add_ref() noexcept = 0;
  template <class Count>
  static bool try_add_ref_to(atomic<Count>& count) noexcept {
    Count refs = count.load(memory_order_relaxed);
    do {
      if (refs == 0) return false;
      // ORDER: relaxed; as RefCounted.
    } while (
        !count.compare_exchange_weak(refs, refs + 1, memory_order_relaxed, memory_order_relaxed));
    return true;
  }

 private:
  friend class EveryScheduler;

  const Kind kind_;
  std::uint64_t number_ = 0;
};

/// All of this process. Made when it is first needed, in `examinables_place`, and never destroyed:
/// static objects may have a scheduler, and end after this would.
struct Examinables {
  Mutex mutex;
  Mutex examiner;      // there is one at a time
  RingHead all;        // the oldest first
  RingHead of_parent;  // in a forked child
  std::uint64_t made = 0;
};
extern char examinables_place[];  // for the table of src/sight/debug_layout.cpp

/// A walk over all schedulers, by any thread.
class EveryScheduler {
 public:
  EveryScheduler() noexcept = default;
  EveryScheduler(const EveryScheduler&) = delete;
  EveryScheduler& operator=(const EveryScheduler&) = delete;
  ~EveryScheduler();

  /// The next scheduler, in the order of their making; null: that was the last. It lives until the
  /// next call.
  Examinable* next() noexcept;

 private:
  Examinable* current_ = nullptr;
};

/// The one examiner of this process: others wait until it is destroyed.
class ExamineAll : public EveryScheduler {
 public:
  ExamineAll() noexcept;
  ~ExamineAll();
};

}  // namespace rouse::internal
