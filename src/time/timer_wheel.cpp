#include "time/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace rouse::time {
namespace {

constexpr auto ns_per_tick = static_cast<std::uint64_t>(resolution.count());

std::uint64_t ns_of(Instant time) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

}  // namespace

TimerWheel::TimerWheel() noexcept = default;

std::uint64_t TimerWheel::tick_after(Instant time) noexcept {
  return (ns_of(time) + ns_per_tick - 1) / ns_per_tick;
}
std::uint64_t TimerWheel::tick_before(Instant time) noexcept { return ns_of(time) / ns_per_tick; }
Instant TimerWheel::time_of(std::uint64_t tick) noexcept {
  const auto last = static_cast<std::uint64_t>(Instant::max().time_since_epoch().count());
  return tick > last / ns_per_tick
             ? Instant::max()
             : Instant(Nanoseconds(static_cast<std::int64_t>(tick * ns_per_tick)));
}

void TimerWheel::insert(WheelNode& node) noexcept {
  ++size_;
  const std::uint64_t at = tick_after(node.deadline);
  // After those of the same tick that are still to be dealt out.
  if (!lists_[dealing].is_empty() && (at ^ elapsed_) >> (dealt_level_ * level_bits) == 0) {
    return append(dealing, node);
  }
  place(node);
}

void TimerWheel::restart(std::uint64_t tick) noexcept {
  ROUSE_ASSERT(is_empty(), "a wheel that has timers can't start anew");
  elapsed_ = tick;
}

void TimerWheel::remove(WheelNode& node) noexcept {
  --size_;
  unlink(node);
}

void TimerWheel::place(WheelNode& node) noexcept {
  const std::uint64_t at = tick_after(node.deadline);
  if (at <= elapsed_) return append(due, node);
  const unsigned level =
      (63U - static_cast<unsigned>(std::countl_zero(at ^ elapsed_))) / level_bits;
  const std::uint64_t slot = (at >> (level * level_bits)) % slots;
  append(level * slots + slot, node);
}

bool TimerWheel::advance(std::uint64_t tick, std::size_t max_moves) noexcept {
  for (;;) {
    while (!lists_[dealing].is_empty()) {
      if (max_moves-- == 0) return false;
      WheelNode& node = first(dealing);
      unlink(node);
      place(node);
    }
    if (occupied_levels_ == 0) break;
    const Slot slot = first_slot();
    if (slot.start > tick) break;
    elapsed_ = slot.start;
    dealt_level_ = slot.level;
    move_all(slot.index, slot.level == 0 ? due : dealing);
  }
  elapsed_ = std::max(elapsed_, tick);
  return true;
}

WheelNode* TimerWheel::pop_due() noexcept { return pop(due); }

WheelNode* TimerWheel::pop_any() noexcept {
  if (WheelNode* node = pop(due)) return node;
  if (WheelNode* node = pop(dealing)) return node;
  return occupied_levels_ == 0 ? nullptr : pop(first_slot().index);
}

WheelNode* TimerWheel::pop(std::size_t list) noexcept {
  if (lists_[list].is_empty()) return nullptr;
  WheelNode& node = first(list);
  remove(node);
  return &node;
}

std::uint64_t TimerWheel::next_tick() const noexcept {
  if (!lists_[due].is_empty() || !lists_[dealing].is_empty()) return elapsed_;
  return occupied_levels_ == 0 ? never : first_slot().start;
}

/// There must be one.
TimerWheel::Slot TimerWheel::first_slot() const noexcept {
  const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
  const auto slot = static_cast<unsigned>(std::countr_zero(occupied_slots_[level]));
  const unsigned shift = level * level_bits;
  const std::uint64_t round = elapsed_ >> (shift + level_bits) << (shift + level_bits);
  return {.level = level,
          .start = round + (std::uint64_t{slot} << shift),
          .index = std::size_t{level} * slots + slot};
}

void TimerWheel::append(std::size_t list, WheelNode& node) noexcept {
  List& head = lists_[list];
  if (head.is_empty()) mark(list);
  node.next = &head;
  node.prev = head.prev;
  node.prev->next = &node;
  head.prev = &node;
}

void TimerWheel::unlink(WheelLink& node) noexcept {
  node.prev->next = node.next;
  node.next->prev = node.prev;
  // The last one of its list: both neighbours are its head.
  if (node.prev == node.next) {
    unmark(static_cast<std::size_t>(static_cast<List*>(node.prev) - lists_.data()));
  }
}

void TimerWheel::move_all(std::size_t from, std::size_t to) noexcept {
  List& source = lists_[from];
  List& target = lists_[to];
  source.next->prev = target.prev;
  target.prev->next = source.next;
  source.prev->next = &target;
  target.prev = source.prev;
  source.prev = source.next = &source;
  unmark(from);
}

void TimerWheel::mark(std::size_t list) noexcept {
  if (list >= due) return;
  occupied_slots_[list / slots] |= std::uint64_t{1} << (list % slots);
  occupied_levels_ |= 1U << (list / slots);
}

void TimerWheel::unmark(std::size_t list) noexcept {
  if (list >= due) return;
  std::uint64_t& occupied = occupied_slots_[list / slots];
  occupied &= ~(std::uint64_t{1} << (list % slots));
  if (occupied == 0) occupied_levels_ &= ~(1U << (list / slots));
}

}  // namespace rouse::time
