#include "time/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace rouse::time {

Instant TimerWheel::time_of(std::uint64_t tick) noexcept {
  return tick > last_tick ? Instant::max()
                          : Instant(Nanoseconds(static_cast<std::int64_t>(tick * ns_per_tick)));
}

/// Behind those of the same tick that are still to be dealt out.
void TimerWheel::insert_while_dealing(WheelNode& node, std::uint64_t tick) noexcept {
  for (unsigned level = levels - 1; level > 0; --level) {
    if ((dealing_levels_ >> level & 1U) != 0 && slot_of(tick, level) == dealt_slot_[level]) {
      return append(dealing + level, node);
    }
  }
  append(list_for(tick), node);
}

bool TimerWheel::advance(std::uint64_t tick, std::size_t max_moves) noexcept {
  for (;;) {
    deal_out(max_moves);
    const std::uint64_t at = next_event();
    const std::uint64_t to = std::min(at, std::max(tick, now_));
    if (is_undealt_by(to)) return false;
    if (at > to) {
      now_ = to;
      return true;
    }
    begin_slots(at);
    now_ = at;
  }
}

/// So many nodes at most; those of the lowest level first, for they are due first.
void TimerWheel::deal_out(std::size_t& max_moves) noexcept {
  while (dealing_levels_ != 0 && max_moves != 0) {
    --max_moves;
    WheelNode& node = first(dealing + static_cast<unsigned>(std::countr_zero(dealing_levels_)));
    __builtin_prefetch(node.ahead, 1);
    unlink(node);
    node.ahead = nullptr;
    append_with_hint(list_for(tick_after(node.deadline)), node);
  }
}

/// Whether a slot begins by then that has nodes to be dealt out.
bool TimerWheel::is_undealt_by(std::uint64_t tick) const noexcept {
  for (std::uint32_t left = dealing_levels_; left != 0; left &= left - 1) {
    const auto level = static_cast<unsigned>(std::countr_zero(left));
    if (slot_of(tick, level) >= dealt_slot_[level]) return true;
  }
  return false;
}

/// When a slot of level 0 is due, or one of a higher level is to be dealt out.
std::uint64_t TimerWheel::next_event() const noexcept {
  std::uint64_t next = never;
  for (std::uint32_t left = occupied_levels_; left != 0; left &= left - 1) {
    const auto level = static_cast<unsigned>(std::countr_zero(left));
    next = std::min(next, event_of(level, first_slot(level)));
  }
  return next;
}

void TimerWheel::begin_slots(std::uint64_t at) noexcept {
  for (std::uint32_t left = occupied_levels_; left != 0; left &= left - 1) {
    const auto level = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t slot = first_slot(level);
    if (event_of(level, slot) == at) begin(level, slot);
  }
}

void TimerWheel::begin(unsigned level, std::uint64_t slot) noexcept {
  if (level == 0) return move_all(list_of(level, slot), due);
  dealing_levels_ |= 1U << level;
  dealt_slot_[level] = slot;
  move_all(list_of(level, slot), dealing + level);
}

/// The first one that has nodes; there must be one.
std::uint64_t TimerWheel::first_slot(unsigned level) const noexcept {
  const std::uint64_t start = passed_slot(level) + 1;
  const std::uint64_t* bits = &occupied_[std::size_t{level} * words];
  const std::uint64_t skipped = start % 64;
  std::size_t word = start / 64 % words;
  if (const std::uint64_t rest = bits[word] >> skipped) {
    return start + static_cast<unsigned>(std::countr_zero(rest));
  }
  for (std::uint64_t slot = start - skipped + 64;; slot += 64) {
    word = (word + 1) % words;
    if (bits[word] != 0) return slot + static_cast<unsigned>(std::countr_zero(bits[word]));
  }
}

WheelNode* TimerWheel::pop_any() noexcept {
  for (std::size_t list = due; list < list_count; ++list) {
    if (WheelNode* node = pop(list)) return node;
  }
  if (occupied_levels_ == 0) return nullptr;
  const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
  return pop(list_of(level, first_slot(level)));
}

std::uint64_t TimerWheel::next_tick() const noexcept {
  if (!lists_[due].is_empty() || dealing_levels_ != 0) return now_;
  return next_event();
}

void TimerWheel::restart(std::uint64_t tick) noexcept {
  ROUSE_ASSERT(is_empty(), "a wheel that has timers can't start anew");
  now_ = tick;
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

void TimerWheel::unmark(std::size_t list) noexcept {
  if (list == due || list == endless) return;
  if (list >= dealing) {
    dealing_levels_ &= ~(1U << (list - dealing));
    return;
  }
  occupied_[list / 64] &= ~(std::uint64_t{1} << (list % 64));
  const std::uint64_t* bits = &occupied_[list / slots * words];
  if ((bits[0] | bits[1] | bits[2] | bits[3]) == 0) occupied_levels_ &= ~(1U << (list / slots));
}

}  // namespace rouse::time
