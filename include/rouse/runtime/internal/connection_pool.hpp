// ConnectionPool: all of a Pool that does not depend on the type of its connections: who waits,
// which connection is lent next, and what the janitor has to do.
//
// Invariants, under the lock:
//  - Somebody waits only while nothing is idle and all `max_open` places are taken. So whoever
//    brings a connection or a place gives it to the first in line, and nobody overtakes.
//  - A place is counted in `open_` from the moment it may be opened until its connection is gone.
//  It
//    is handed on without being given up in between.
//  - Connections are idle or wait to be tidied only while there is a janitor: what comes back
//    without one is closed by who brings it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/runtime/pool_options.hpp"
#include "rouse/sync/internal/wait_list.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::internal {

/// A connection, as the core sees it.
class PoolSlot : public RingLink {
 public:
  /// How often it was lent.
  [[nodiscard]] std::uint64_t lends() const noexcept { return lends_; }
  /// To be closed, however clean it is.
  [[nodiscard]] bool is_worn() const noexcept { return is_worn_; }

 protected:
  PoolSlot() noexcept = default;
  ~PoolSlot() = default;

 private:
  friend class ConnectionPool;
  time::Instant lives_until_ = time::Instant::max();
  time::Instant idle_until_ = time::Instant::max();
  std::uint64_t lends_ = 0;
  bool is_worn_ = false;
};

/// What came of waiting for a connection.
enum class PoolTurn : std::uint8_t { lent, may_open, closed, full };

/// A borrower in line.
class PoolWaiter : public Waiter {
 public:
  /// The connection, if its turn was to be lent one.
  [[nodiscard]] PoolSlot& slot() const noexcept { return *slot_; }

 private:
  friend class ConnectionPool;
  PoolSlot* slot_ = nullptr;
  PoolTurn turn_{};
  bool had_turn_ = false;  // and got nothing of use: it is the first to wait again
};

class ROUSE_API ConnectionPool {
 public:
  explicit ConnectionPool(const PoolOptions& options) noexcept : options_(options) {}

  // The borrower's.

  /// Its turn: with a connection, or with a place to open one in. Else it waits in line.
  Poll<PoolTurn> poll_turn(PoolWaiter& waiter, Context& cx);
  /// For a waiter whose future is dropped: what it was given goes to the next. Not null: a
  /// connection that nobody may have; the caller destroys it, then calls `closed`.
  [[nodiscard]] PoolSlot* leave(PoolWaiter& waiter) noexcept;
  /// Whether a connection that was idle may be lent.
  [[nodiscard]] bool is_fresh(const PoolSlot& slot) const noexcept;
  void count_lend(PoolSlot& slot) noexcept;

  /// The connection of a place is there. False: the pool was closed meanwhile.
  [[nodiscard]] bool opened(PoolSlot& slot) noexcept;
  /// It did not come to be: the place goes to the next.
  void open_failed() noexcept;

  /// A lent connection comes back. False: there is no janitor; the caller destroys it, then calls
  /// `closed`.
  [[nodiscard]] bool give_back(PoolSlot& slot, bool is_clean, time::Nanoseconds idle) noexcept;
  /// The same for one that is of no use any more.
  [[nodiscard]] bool give_up(PoolSlot& slot) noexcept;
  /// A lent connection is gone.
  void closed() noexcept;

  // The janitor's.

  /// True: there is none so far; the caller spawns one.
  [[nodiscard]] bool needs_janitor() noexcept;
  /// The janitor is gone. What it would have had to tidy, and all that is idle, moves to `left`.
  void end_janitor(RingHead& left) noexcept;
  /// Completes when there may be something to do before the time that `sweep` gave.
  [[nodiscard]] sync::Notify::Notified news() noexcept { return news_.notified(); }
  /// Takes what was idle for too long; says when to look again.
  time::Instant sweep() noexcept;
  /// The next connection to clean or to close; null if there is none.
  PoolSlot* next_to_tidy() noexcept;
  /// It was cleaned. False: it is to be closed all the same.
  [[nodiscard]] bool cleaned(PoolSlot& slot) noexcept;
  /// It was destroyed.
  void tidied_away() noexcept;
  /// Closed, and the last connection is gone.
  [[nodiscard]] bool is_over() noexcept;

  // The pool's.

  void close() noexcept;
  [[nodiscard]] bool is_closed() noexcept;
  [[nodiscard]] ConnectionMetrics metrics() noexcept;
  [[nodiscard]] const PoolOptions& options() const noexcept { return options_; }

 private:
  std::optional<PoolTurn> take_turn(PoolWaiter& waiter) noexcept;
  PoolTurn begin_to_open(PoolWaiter& waiter) noexcept;
  void give(SpinGuard& guard, PoolSlot* slot) noexcept;
  void leave_to_janitor(SpinGuard& guard, PoolSlot& slot) noexcept;
  PoolSlot& take_idle() noexcept;

  const PoolOptions options_;
  SpinLock lock_;  // guards the rest, but for news_
  WaitList waiters_;
  RingHead idle_;      // the last one used is the first
  RingHead to_tidy_;   // the first that came back is the first
  sync::Notify news_;  // for the janitor
  time::Instant next_sweep_ = time::Instant::max();
  ConnectionMetrics counts_;  // `lent` is not kept
  bool has_janitor_ = false;
  bool is_closed_ = false;
};

}  // namespace rouse::internal
