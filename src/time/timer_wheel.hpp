// TimerWheel: a hierarchical timer wheel: nodes in the order of their deadlines, rounded to ticks
// (1 ms). Insert and remove are O(1); a node moves at most six times before it is due, at most once
// if that is within 16 seconds.
//
// Seven levels: a slot of level k stands for 128^k ticks. Together they reach further than 64 bits
// of nanoseconds, so nothing is clamped. A node lies in the slot of its tick, as high as possible.
// A slot cascades (is dealt out) to the levels below when time comes within half its width of its
// start: so a slot of many nodes cascades a few at a time, before the first of them is due. Ahead
// of the present each level needs at most 191 slots; it has 256, used in turn.
//
// A node's place depends only on its tick and the present. So all nodes of a tick are in one list,
// in the order of insertion, and fire in that order. (One that is inserted while its slot cascades
// waits behind the others in `cascading`.) Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rouse/time/internal/timer_entry.hpp"

namespace rouse::internal {

class TimerWheel {
 public:
  static constexpr std::uint64_t never = UINT64_MAX;

  TimerWheel() noexcept = default;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// The first tick at or after a time; the last tick at or before it.
  static std::uint64_t tick_after(time::Instant time) noexcept {
    return (ns_of(time) + ns_per_tick - 1) / ns_per_tick;
  }
  static std::uint64_t tick_before(time::Instant time) noexcept {
    return ns_of(time) / ns_per_tick;
  }
  static time::Instant time_of(std::uint64_t tick) noexcept;

  /// `node` is in no wheel. `tick` is the one after its deadline.
  void insert(WheelNode& node, std::uint64_t tick) noexcept {
    ++size_;
    if (cascading_levels_ != 0) [[unlikely]]
      return insert_while_dealing(node, tick);
    append(list_for(tick), node);
  }
  void insert(WheelNode& node) noexcept { insert(node, tick_after(node.deadline)); }
  /// `node` is in this wheel.
  void remove(WheelNode& node) noexcept {
    --size_;
    unlink(node);
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Advances the time to `tick` if possible: nodes due by then can be popped. False: so many nodes
  /// cascaded that time stopped before `tick`; call it again. A tick in the past changes nothing.
  bool advance(std::uint64_t tick, std::size_t max_moves = SIZE_MAX) noexcept;
  /// Whether `advance` has nodes to cascade ahead of time.
  [[nodiscard]] bool is_dealing() const noexcept { return cascading_levels_ != 0; }
  /// The next node that is due, in the order of ticks, then of insertion; null if there is none.
  WheelNode* pop_due() noexcept { return pop(due); }
  /// The node that will be popped first, now or later; null if there is none. Looks through the
  /// nodes of one slot at most, and those that have to cascade.
  [[nodiscard]] WheelNode* peek() noexcept;
  /// Any node at all, in no order; null if there is none.
  WheelNode* pop_any() noexcept;

  /// There is nothing to do before this tick; `never` if no node will be due: the last time points
  /// there are, which are after the last full tick, do not come. It may be before the first node is
  /// due: call `advance` then and ask again.
  [[nodiscard]] std::uint64_t next_tick() const noexcept;

  /// Lets an empty wheel start at another time.
  void restart(std::uint64_t tick) noexcept;

 private:
  static constexpr std::uint64_t ns_per_tick = static_cast<std::uint64_t>(time::resolution.count());
  static constexpr unsigned level_bits = 7;
  static constexpr unsigned levels = 7;
  static constexpr unsigned slots = 256;
  static constexpr unsigned words = slots / 64;
  // The lists: of the slots, then these.
  static constexpr std::size_t due = std::size_t{levels} * slots;
  static constexpr std::size_t cascading = due + 1;           // one a level; level 0 needs none
  static constexpr std::size_t endless = cascading + levels;  // after the last full tick there is
  static constexpr std::size_t list_count = endless + 1;
  static constexpr std::uint64_t last_tick =
      static_cast<std::uint64_t>(time::Instant::max().time_since_epoch().count()) / ns_per_tick;

  static std::uint64_t ns_of(time::Instant time) noexcept {
    const std::int64_t ns = time.time_since_epoch().count();
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }
  /// How long before its start a slot cascades.
  static constexpr std::uint64_t lead(unsigned level) noexcept {
    return level == 0 ? 0 : std::uint64_t{1} << (level * level_bits - 1);
  }
  static constexpr std::uint64_t slot_of(std::uint64_t tick, unsigned level) noexcept {
    return tick >> (level * level_bits);
  }
  static constexpr std::uint64_t event_of(unsigned level, std::uint64_t slot) noexcept {
    return (slot << (level * level_bits)) - lead(level);
  }
  /// The last slot of a level that has no nodes any more. Slots are counted from the beginning of
  /// time.
  [[nodiscard]] std::uint64_t passed_slot(unsigned level) const noexcept {
    return slot_of(now_ + lead(level), level);
  }
  static std::size_t list_of(unsigned level, std::uint64_t slot) noexcept {
    return level * slots + slot % slots;
  }
  [[nodiscard]] std::size_t list_for(std::uint64_t tick) const noexcept {
    if (tick <= now_) return due;
    if (tick > last_tick) return endless;
    unsigned level = 0;
    while (level + 1 < levels && slot_of(tick, level + 1) > passed_slot(level + 1)) ++level;
    return list_of(level, slot_of(tick, level));
  }

  void append(std::size_t list, WheelNode& node) noexcept {
    RingHead& head = lists_[list];
    if (head.empty()) mark(list);
    node.insert_before(head);
  }
  /// The same, for nodes that come in bulk: whoever pops them may look ahead.
  void append_with_hint(std::size_t list, WheelNode& node) noexcept {
    append(list, node);
    RingLink* before = node.prev()->prev()->prev()->prev();
    if (before != &lists_[list] && before != &node) static_cast<WheelNode*>(before)->ahead = &node;
  }
  void unlink(WheelNode& node) noexcept {
    node.unlink();
    // The last one of its list: both neighbours are its head.
    if (node.prev() == node.next()) {
      unmark(static_cast<std::size_t>(static_cast<RingHead*>(node.prev()) - lists_.data()));
    }
  }
  void mark(std::size_t list) noexcept {
    if (list >= due) return;
    occupied_[list / 64] |= std::uint64_t{1} << (list % 64);
    occupied_levels_ |= 1U << (list / slots);
  }
  void unmark(std::size_t list) noexcept;
  WheelNode& first(std::size_t list) noexcept {
    return static_cast<WheelNode&>(*lists_[list].next());
  }
  WheelNode* pop(std::size_t list) noexcept {
    if (lists_[list].empty()) return nullptr;
    WheelNode& node = first(list);
    __builtin_prefetch(node.ahead, 1);
    remove(node);
    return &node;
  }

  void insert_while_dealing(WheelNode& node, std::uint64_t tick) noexcept;
  void cascade(std::size_t& max_moves) noexcept;
  [[nodiscard]] bool is_undealt_by(std::uint64_t tick) const noexcept;
  [[nodiscard]] std::uint64_t next_event() const noexcept;
  [[nodiscard]] std::uint64_t first_slot(unsigned level) const noexcept;
  void begin_slots(std::uint64_t at) noexcept;
  void begin(unsigned level, std::uint64_t slot) noexcept;
  void move_all(std::size_t from, std::size_t to) noexcept;

  std::uint64_t now_ = 0;  // the present tick
  std::size_t size_ = 0;
  std::uint32_t occupied_levels_ = 0;                                  // have nodes
  std::uint32_t cascading_levels_ = 0;                                 // have nodes in `cascading`
  std::array<std::uint64_t, levels> dealt_slot_{};                     // which those nodes are of
  std::array<std::uint64_t, std::size_t{levels} * words> occupied_{};  // a bit for each slot
  std::array<RingHead, list_count> lists_;
};

}  // namespace rouse::internal
