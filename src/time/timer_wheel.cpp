#include "time/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace rouse::internal {

time::Instant TimerWheel::time_of(std::uint64_t tick) noexcept {
  return tick > last_tick
             ? time::Instant::max()
             : time::Instant(time::Nanoseconds(static_cast<std::int64_t>(tick * ns_per_tick)));
}

/// Behind those of the same tick that still have to cascade.
void TimerWheel::insert_while_dealing(WheelNode& node, std::uint64_t tick) noexcept {
  for (unsigned level = levels - 1; level > 0; --level) {
    if ((cascading_levels_ >> level & 1U) != 0 && slot_of(tick, level) == dealt_slot_[level]) {
      return append(cascading + level, node);
    }
  }
  append(list_for(tick), node);
}

bool TimerWheel::advance(std::uint64_t tick, std::size_t max_moves) noexcept {
  for (;;) {
    cascade(max_moves);
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

/// Cascades a limited number of nodes; those of the lowest level first, for they are due first.
void TimerWheel::cascade(std::size_t& max_moves) noexcept {
  while (cascading_levels_ != 0 && max_moves != 0) {
    --max_moves;
    WheelNode& node = first(cascading + static_cast<unsigned>(std::countr_zero(cascading_levels_)));
    __builtin_prefetch(node.ahead, 1);
    unlink(node);
    node.ahead = nullptr;
    append_with_hint(list_for(tick_after(node.deadline)), node);
  }
}

/// Whether a slot with nodes that still have to cascade begins by then.
bool TimerWheel::is_undealt_by(std::uint64_t tick) const noexcept {
  for (std::uint32_t left = cascading_levels_; left != 0; left &= left - 1) {
    const auto level = static_cast<unsigned>(std::countr_zero(left));
    if (slot_of(tick, level) >= dealt_slot_[level]) return true;
  }
  return false;
}

/// When a slot of level 0 is due, or one of a higher level has to cascade.
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
  cascading_levels_ |= 1U << level;
  dealt_slot_[level] = slot;
  move_all(list_of(level, slot), cascading + level);
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

WheelNode* TimerWheel::peek() noexcept {
  if (!lists_[due].empty()) return &first(due);
  WheelNode* next = nullptr;
  const auto look_through = [&](std::size_t list) {
    for (RingLink* link = lists_[list].next(); link != &lists_[list]; link = link->next()) {
      auto& node = static_cast<WheelNode&>(*link);
      if (!next || tick_after(node.deadline) < tick_after(next->deadline)) next = &node;
      if (list < slots) return;  // all of one tick
    }
  };
  // A node of a higher level is due after all of a lower one.
  if (occupied_levels_ != 0) {
    const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    look_through(list_of(level, first_slot(level)));
  }
  // Of one tick, those that have cascaded come first.
  for (std::uint32_t left = cascading_levels_; left != 0; left &= left - 1) {
    look_through(cascading + static_cast<unsigned>(std::countr_zero(left)));
  }
  const bool is_endless = !next || tick_after(next->deadline) > last_tick;
  return is_endless && !lists_[endless].empty() ? &first(endless) : next;
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
  if (!lists_[due].empty() || cascading_levels_ != 0) return now_;
  return next_event();
}

void TimerWheel::restart(std::uint64_t tick) noexcept {
  ROUSE_ASSERT(empty(), "a wheel that has timers can't start anew");
  now_ = tick;
}

void TimerWheel::move_all(std::size_t from, std::size_t to) noexcept {
  lists_[from].move_to(lists_[to]);
  unmark(from);
}

void TimerWheel::unmark(std::size_t list) noexcept {
  if (list == due || list == endless) return;
  if (list >= cascading) {
    cascading_levels_ &= ~(1U << (list - cascading));
    return;
  }
  occupied_[list / 64] &= ~(std::uint64_t{1} << (list % 64));
  const std::uint64_t* bits = &occupied_[list / slots * words];
  if ((bits[0] | bits[1] | bits[2] | bits[3]) == 0) occupied_levels_ &= ~(1U << (list / slots));
}

}  // namespace rouse::internal
