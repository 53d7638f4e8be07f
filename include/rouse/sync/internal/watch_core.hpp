// WatchCore: what the two sides of a watch channel share but for the value: its version, how many
// there are of each side, and who waits. sync/watch.hpp is what programs use.
//
// Invariants:
//  - The lock guards the value's pointer and the version, which change together; a version that was
//    read without it is only a hint that the next read will confirm or raise.
//  - Nothing foreign runs under the lock: values are made before it is taken and dropped after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/sync/internal/wait_list.hpp"
#include "rouse/sync/internal/wait_until.hpp"

namespace rouse::internal {

class ROUSE_API WatchCore {
 public:
  using Version = std::uint64_t;
  enum class Change : std::uint8_t { none, changed, closed };

  WatchCore() noexcept = default;
  WatchCore(const WatchCore&) = delete;
  WatchCore& operator=(const WatchCore&) = delete;

  // ORDER: acquire; whoever sees a version finds at least that value.
  [[nodiscard]] Version version() const noexcept { return word() & ~closed_bit; }
  [[nodiscard]] Change change_since(Version seen) const noexcept {
    const Version now = word();
    if ((now & ~closed_bit) != seen) return Change::changed;
    return (now & closed_bit) != 0 ? Change::closed : Change::none;
  }
  [[nodiscard]] bool is_closed() const noexcept { return (word() & closed_bit) != 0; }
  [[nodiscard]] std::size_t receivers() const noexcept {
    return receivers_.load(memory_order_acquire);  // ORDER: acquire; sees what the last one did.
  }

  void add_sender() noexcept { senders_.fetch_add(1, memory_order_relaxed); }
  void add_receiver() noexcept { receivers_.fetch_add(1, memory_order_relaxed); }
  /// The last one closes the channel.
  void remove_sender() noexcept;
  /// The last one tells senders who wait for that.
  void remove_receiver() noexcept;

  /// `none`: `cx` is woken when that changes.
  Change poll_change(Waiter& waiter, Version seen, Context& cx);
  void stop_watching(Waiter& waiter) noexcept { stop_waiting(lock_, watchers_, waiter); }
  void move_watcher(Waiter& waiter) noexcept { wake_and_stop_waiting(lock_, watchers_, waiter); }
  /// True: there is no receiver.
  bool poll_no_receiver(Waiter& waiter, Context& cx);
  void stop_waiting_for_receivers(Waiter& waiter) noexcept {
    stop_waiting(lock_, senders_waiting_, waiter);
  }

 protected:
  ~WatchCore() = default;

  SpinLock& lock() noexcept { return lock_; }
  /// The lock is held and the value replaced: gives the lock back.
  void publish_and_unlock() noexcept;

 private:
  static constexpr Version closed_bit = 1;
  static constexpr Version one_version = 2;

  // ORDER: acquire; as in `version`.
  [[nodiscard]] Version word() const noexcept { return word_.load(memory_order_acquire); }

  SpinLock lock_;
  atomic<std::size_t> senders_{1};
  atomic<std::size_t> receivers_{1};
  atomic<Version> word_{0};  // the version, and whether it is closed; written under the lock
  WaitList watchers_;
  WaitList senders_waiting_;
};

}  // namespace rouse::internal
