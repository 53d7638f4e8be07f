// StallWatch: an idle worker takes over for those in a long poll. Otherwise their timers, the seat
// in the reactor and the tasks behind that poll would wait for its end, though others are idle.
//
// One of the sleepers, the *watcher*, sleeps for at most `interval`. Then it checks whose polls
// have not moved since: a worker that was awake in one poll for a millisecond is stuck.
// PoolCore::help_stuck does for it what can't wait, and the watcher's own next sleep takes the seat
// in the reactor if nobody has it.
//
// Somebody watches whenever a worker is awake and another sleeps; when all sleep nobody does, so an
// idle pool wakes up for nothing:
//  - Who goes to sleep beside a worker that is awake becomes the watcher, if there is none.
//  - A watcher that finds work gives the watch up, and whoever goes off with work while nobody
//    watches calls a sleeper: unparks it, so that it asks anew (`begin`).
//  - A watcher that finds all asleep, and that nothing was polled since its last look, gives it up,
//    then looks once more whether all sleep. Who awakes leaves the sleepers, and later looks
//    whether somebody watches. All four are seq_cst: one of the two sees the other.
//
// Waking a watcher is a system call, so it must be rare: at most once per interval. For that the
// watch continues for an interval after the last poll; the watcher is the last of the sleepers to
// be woken (IdleWorkers); and a watcher that may have the seat in the reactor, because it was the
// only sleeper, is relieved by the next worker that goes to sleep.
#pragma once

#include <cstdint>
#include <vector>

#include "rouse/base/internal/durations.hpp"

#include "exec/pool/idle_workers.hpp"
#include "exec/task/counter.hpp"
#include "exec/task/worker_counters.hpp"

namespace rouse::internal {

class StallWatch {
 public:
  /// With one worker there is nobody to watch.
  explicit StallWatch(std::size_t workers) : seen_(workers) {}

  /// A poll that began right after a look is known to be long with the second look after it: within
  /// 5 ms. Each costs the waking of a thread, which takes 3 us of a CPU, on a virtual machine 20.
  static constexpr std::chrono::nanoseconds interval = std::chrono::microseconds(2400);

  /// For a sleeper, before it parks. True: it is the watcher, and parks no longer than `interval`.
  bool begin(const Worker& worker, const IdleWorkers& idle) noexcept;
  bool is_watcher(const Worker& worker) const noexcept {
    return watcher_.load(memory_order_relaxed) == &worker;
  }

  /// The watcher looks: first this, then at each of the others.
  void begin_look() noexcept { has_moved_.store(false, memory_order_relaxed); }
  /// Takes note of how far that worker is, the `index`-th. True: it has been in one poll for long.
  bool look_at(std::size_t index, const WorkerCounters& counters, std::uint64_t now) noexcept;

  /// For a worker that goes off with work. True: nobody watches, so it has to call a sleeper.
  bool leave(const Worker& worker) noexcept;

 private:
  struct Seen {
    Counter polls;
    Counter since;  // then they were seen first, or the worker asleep
  };

  atomic<const Worker*> watcher_{nullptr};
  atomic<bool> can_be_relieved_{false};
  // The watcher's. One that was relieved may still look: it does no harm.
  atomic<bool> has_moved_{false};
  std::vector<Seen> seen_;
};

}  // namespace rouse::internal
