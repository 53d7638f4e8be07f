#include "exec/pool/stall_watch.hpp"

namespace rouse::internal {
namespace {

/// A worker in one poll for this many nanoseconds is stuck.
constexpr std::uint64_t long_poll = 1'000'000;

}  // namespace

bool StallWatch::begin(const Worker& worker, const IdleWorkers& idle) noexcept {
  if (seen_.size() == 1) return false;
  for (;;) {
    // ORDER: seq_cst; as told above.
    const Worker* watcher = watcher_.load(memory_order_seq_cst);
    if (watcher != &worker) {
      if (watcher == nullptr ? idle.all_sleep() : !can_be_relieved_.load(memory_order_relaxed)) {
        return false;
      }
      // If another was faster, and goes off with work, it calls. ORDER: relaxed; a call too many
      // does no harm.
      if (!watcher_.compare_exchange_strong(watcher, &worker, memory_order_relaxed,
                                            memory_order_relaxed)) {
        return false;
      }
    }
    can_be_relieved_.store(idle.sleeping() == 1, memory_order_relaxed);
    if (!idle.all_sleep() || has_moved_.load(memory_order_relaxed)) return true;
    watcher = &worker;
    // ORDER: seq_cst; as told above.
    watcher_.compare_exchange_strong(watcher, nullptr, memory_order_seq_cst, memory_order_relaxed);
    if (idle.all_sleep()) return false;
  }
}

bool StallWatch::look_at(std::size_t index, const WorkerCounters& counters,
                         std::uint64_t now) noexcept {
  Seen& seen = seen_[index];
  const std::uint64_t polls = counters.polls.get();
  const bool has_moved = polls != seen.polls.get();
  if (has_moved || !counters.is_awake()) {
    seen.polls.set(polls);
    seen.since.set(now);
    if (has_moved) has_moved_.store(true, memory_order_relaxed);
    return false;
  }
  return now - seen.since.get() >= long_poll;
}

bool StallWatch::leave(const Worker& worker) noexcept {
  if (seen_.size() == 1) return false;
  // ORDER: seq_cst; as told above.
  const Worker* watcher = watcher_.load(memory_order_seq_cst);
  if (watcher == nullptr) return true;
  // ORDER: seq_cst; as told above.
  return watcher == &worker && watcher_.compare_exchange_strong(
                                   watcher, nullptr, memory_order_seq_cst, memory_order_relaxed);
}

}  // namespace rouse::internal
