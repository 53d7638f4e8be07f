// IdleWorkers: which workers sleep, which search, and which one a new task wakes.
//
// An idle worker searches (checks the other workers' queues and the injection queue), then sleeps.
// At most about half of the workers search at once. A new task wakes a sleeper only if nobody
// searches: the searcher will find it. So there is no thundering herd. If the last searcher finds
// something, it wakes the next, so wake-ups spread as long as there is work, one at a time.
//
// No task is left behind in the injection queue. Whoever pushes there makes a read-modify-write on
// `state_` after it; whoever goes to sleep makes one before its last check of all queues; the two
// are ordered. If the push came first, the sleeper sees the task. If the sleep came first, the push
// sees a sleeper and wakes one, unless somebody searches: a searcher has not gone to sleep yet,
// which is the first case again.
//
// A task in a worker's own queue needs no such care: its worker is awake and will poll it. There a
// plain load decides; a missed wake-up costs parallelism until that worker's next poll or, if that
// poll is long, until the watcher checks (exec/pool/stall_watch.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rouse/base/internal/spin_lock.hpp"

namespace rouse::internal {

class Worker;

class IdleWorkers {
 public:
  static constexpr std::size_t max_workers = 0x7fff;

  explicit IdleWorkers(std::size_t workers) : workers_(static_cast<std::uint32_t>(workers)) {
    sleepers_.reserve(workers);
  }

  /// False: enough others search.
  bool start_search() noexcept {
    if (2 * searching(state_.load(memory_order_relaxed)) >= workers_) return false;
    // ORDER: seq_cst; as told above.
    state_.fetch_add(one_searching, memory_order_seq_cst);
    return true;
  }
  /// It found something. True: it was the last searcher, so another one must be woken.
  bool stop_search() noexcept {
    // ORDER: seq_cst; as told above, like all changes of the state.
    return searching(state_.fetch_sub(one_searching, memory_order_seq_cst)) == 1;
  }

  /// Joins the sleepers. The caller must check all queues once more. `as_last`: it is woken only if
  /// no other is left.
  void sleep(Worker& worker, bool was_searching, bool as_last = false) noexcept {
    const SpinGuard guard(lock_);
    // There is room for every worker.
    sleepers_.insert(as_last ? sleepers_.begin() : sleepers_.end(), &worker);
    // ORDER: seq_cst; as told above: before the caller's last look.
    state_.fetch_add(one_sleeping - (was_searching ? one_searching : 0), memory_order_seq_cst);
  }
  /// A sleeper woke up. True: by itself, so it has left the sleepers just now and does not search.
  /// False: it was chosen by `choose` and counts as searching.
  bool wake_up(Worker& worker) noexcept {
    const SpinGuard guard(lock_);
    const auto found = std::find(sleepers_.begin(), sleepers_.end(), &worker);
    if (found == sleepers_.end()) return false;
    sleepers_.erase(found);
    // ORDER: seq_cst; as told above.
    state_.fetch_sub(one_sleeping, memory_order_seq_cst);
    return true;
  }
  /// From now on this sleeper, if it still is one, is woken only if no other is left.
  void wake_last(Worker& worker) noexcept {
    const SpinGuard guard(lock_);
    const auto found = std::find(sleepers_.begin(), sleepers_.end(), &worker);
    if (found != sleepers_.end()) std::rotate(sleepers_.begin(), found, found + 1);
  }
  bool is_sleeping(Worker& worker) noexcept {
    const SpinGuard guard(lock_);
    return std::find(sleepers_.begin(), sleepers_.end(), &worker) != sleepers_.end();
  }

  /// A moment later these may be wrong.
  std::uint32_t sleeping() const noexcept {
    // ORDER: seq_cst; see exec/pool/stall_watch.hpp.
    return state_.load(memory_order_seq_cst) / one_sleeping;
  }
  bool all_sleep() const noexcept { return sleeping() == workers_; }
  /// The sleeper that is woken last; null if there is none. A moment later it may be awake.
  Worker* last_sleeper() noexcept {
    const SpinGuard guard(lock_);
    return sleepers_.empty() ? nullptr : sleepers_.front();
  }

  /// Whether a task just pushed on a worker's own queue should wake a sleeper.
  bool wants_waking() const noexcept { return wants_waking(state_.load(memory_order_relaxed)); }
  /// The same after forks were published: what a worker publishes it may be long in coming back to.
  /// ORDER: seq_cst; after the publication, while a sleeper looks for it after it told that it
  /// sleeps (ForkDeque::publish and has_public are seq_cst, too): one of the two sees the other.
  bool wants_waking_for_fork() const noexcept {
    return wants_waking(state_.load(memory_order_seq_cst));
  }
  /// The same after a push on the injection queue.
  bool wants_waking_for_injected() noexcept {
    // ORDER: seq_cst; as told above: after the push.
    return wants_waking(state_.fetch_add(0, memory_order_seq_cst));
  }
  /// The sleeper to be unparked, which counts as searching from now on; null if none is needed.
  Worker* choose() noexcept {
    const SpinGuard guard(lock_);
    if (!wants_waking(state_.load(memory_order_relaxed))) return nullptr;
    Worker* chosen = sleepers_.back();
    sleepers_.pop_back();
    // ORDER: seq_cst; as told above.
    state_.fetch_add(one_searching - one_sleeping, memory_order_seq_cst);
    return chosen;
  }

 private:
  static constexpr std::uint32_t one_searching = 1;
  static constexpr std::uint32_t one_sleeping = 1U << 16;
  static std::uint32_t searching(std::uint32_t state) noexcept { return state & 0xffff; }
  static bool wants_waking(std::uint32_t state) noexcept {
    return searching(state) == 0 && state >= one_sleeping;
  }

  const std::uint32_t workers_;
  alignas(64) atomic<std::uint32_t> state_{0};  // sleeping workers * 2^16 + searching workers
  SpinLock lock_;
  std::vector<Worker*> sleepers_;
};

}  // namespace rouse::internal
