// TimerWheel: nodes in the order of their deadlines, to a tick (1 ms). Insert and remove are O(1);
// a node is moved at most seven times before it is due.
//
// Eight levels of 64 slots: level 0 has a slot for each of the next ticks, a slot of level k stands
// for 64^k ticks. Together they reach further than 64 bits of nanoseconds, so nothing is clamped.
// Where a node is follows from the highest bit in which its tick differs from `elapsed_`: level
// that bit / 6, slot the six bits there. All nodes of a tick are therefore in one list, and stay in
// the order they were inserted.
//
// Invariants: no node's tick is before `elapsed_`, except in `due`. In each level only slots after
// the one of `elapsed_` have nodes; so the first occupied slot of the lowest occupied level comes
// next. When time reaches a slot of a higher level its nodes are dealt out anew (`dealing`), a few
// at a time if the caller wants.
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rouse/time/timer_entry.hpp"

namespace rouse::time {

class TimerWheel {
 public:
  static constexpr std::uint64_t never = UINT64_MAX;

  TimerWheel() noexcept;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// The first tick at or after a time; the last tick at or before it.
  static std::uint64_t tick_after(Instant time) noexcept;
  static std::uint64_t tick_before(Instant time) noexcept;
  static Instant time_of(std::uint64_t tick) noexcept;

  /// `node` is in no wheel.
  void insert(WheelNode& node) noexcept;
  /// `node` is in this wheel.
  void remove(WheelNode& node) noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Time goes on: what is due by then can be popped. False: so many nodes were dealt out that the
  /// rest waits for the next call. A tick in the past changes nothing.
  bool advance(std::uint64_t tick, std::size_t max_moves = SIZE_MAX) noexcept;
  /// The next node that is due, in the order of ticks, then of insertion; null if there is none.
  WheelNode* pop_due() noexcept;
  /// Any node at all, in no order; null if there is none.
  WheelNode* pop_any() noexcept;

  /// No node is due before this tick; `never` if there are none. It may be too early by less than
  /// the slot's width: call `advance` then and ask again.
  [[nodiscard]] std::uint64_t next_tick() const noexcept;

  /// Lets an empty wheel start at another time.
  void restart(std::uint64_t tick) noexcept;

 private:
  static constexpr unsigned level_bits = 6;
  static constexpr unsigned slots = 1U << level_bits;
  static constexpr unsigned levels = 8;
  static constexpr std::size_t due = std::size_t{levels} * slots;
  static constexpr std::size_t dealing = due + 1;

  struct List : WheelLink {
    List() noexcept { prev = next = this; }
    [[nodiscard]] bool is_empty() const noexcept { return next == this; }
  };
  struct Slot {
    unsigned level;
    std::uint64_t start;  // its first tick
    std::size_t index;
  };

  [[nodiscard]] Slot first_slot() const noexcept;
  WheelNode& first(std::size_t list) noexcept {
    return static_cast<WheelNode&>(*lists_[list].next);
  }
  void place(WheelNode& node) noexcept;
  void append(std::size_t list, WheelNode& node) noexcept;
  void unlink(WheelLink& node) noexcept;
  void move_all(std::size_t from, std::size_t to) noexcept;
  void mark(std::size_t list) noexcept;
  void unmark(std::size_t list) noexcept;
  WheelNode* pop(std::size_t list) noexcept;

  std::uint64_t elapsed_ = 0;
  std::size_t size_ = 0;
  unsigned dealt_level_ = 0;  // of the slot whose nodes are in `dealing`
  std::uint32_t occupied_levels_ = 0;
  std::array<std::uint64_t, levels> occupied_slots_{};
  std::array<List, dealing + 1> lists_;
};

}  // namespace rouse::time
