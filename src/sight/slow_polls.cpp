#include "sight/slow_polls.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "sys/process_fork.hpp"

namespace rouse::sight {

using rouse::internal::FunctionRef;
using rouse::internal::Sample;

namespace {

/// Two units that include the same header have two descriptions of one place.
bool is_same_place(const std::source_location& a, const std::source_location& b) noexcept {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0 &&
         std::strcmp(a.function_name(), b.function_name()) == 0;
}

/// Never destroyed: see examinables_place in examinable.cpp.
SlowPolls& made_once() noexcept {
  alignas(SlowPolls) static char place[sizeof(SlowPolls)];
  static SlowPolls& made = *new (place) SlowPolls;
  return made;
}

}  // namespace

SlowPolls& slow_polls() noexcept {
  // Who forks calls made_once, too: it may be the first that sees what another thread made.
  static const bool forks_are_watched = sys::at_process_fork(
      [] { made_once().before_process_fork(); }, [] { made_once().after_process_fork(); },
      [] { made_once().after_process_fork(); });
  static_cast<void>(forks_are_watched);
  return made_once();
}

SlowPolls::Noted SlowPolls::note(const KnownSlowPoll& poll, std::uint64_t number) noexcept {
  const Lock lock(mutex_);
  const bool is_new = number == 0;
  if (is_new) number = ++count_;
  if (count_ - number < most_kept) kept_[number % most_kept] = poll;
  Place& place = place_of(poll);
  if (is_new) ++place.place.polls;
  place.place.longest_ns = std::max(place.place.longest_ns, poll.duration_ns);
  if (poll.duration_ns < place.tell_at_ns || !may_tell(poll.seen_at_ns)) {
    if (is_new) ++not_told_;
    return Noted{.number = number, .is_to_be_told = false, .not_told = 0};
  }
  place.tell_at_ns = 2 * poll.duration_ns;
  return Noted{.number = number, .is_to_be_told = true, .not_told = std::exchange(not_told_, 0)};
}

SlowPolls::Place& SlowPolls::place_of(const KnownSlowPoll& poll) noexcept {
  const Sample& sample = poll.sample;
  const std::source_location where =
      sample.awaits_count != 0 ? sample.awaits[0] : sample.spawned_at.source();
  const std::uintptr_t code = sample.awaits_count != 0 ? 0 : sample.spawned_at.code();
  for (Place& known : std::span(places_).first(places_count_)) {
    if (known.place.code == code && is_same_place(known.place.where, where)) return known;
  }
  if (places_count_ == most_places) return places_.back();
  Place& made = places_[places_count_++];
  if (places_count_ != most_places) made.place = SlowPlace{.where = where, .code = code};
  return made;
}

bool SlowPolls::may_tell(std::uint64_t now) noexcept {
  if (now - second_began_ >= 1'000'000'000) {
    second_began_ = now;
    told_in_second_ = 0;
  }
  if (told_in_second_ == most_told_a_second) return false;
  ++told_in_second_;
  return true;
}

// Copies, so that nobody writes to a descriptor under the lock.

void SlowPolls::for_each(FunctionRef<void(const KnownSlowPoll&)> fn) {
  std::uint64_t number = 0;
  for (;;) {
    KnownSlowPoll copy;
    {
      const Lock lock(mutex_);
      const std::uint64_t oldest = count_ < most_kept ? 1 : count_ - most_kept + 1;
      number = std::max(number + 1, oldest);
      if (number > count_) return;
      copy = kept_[number % most_kept];
    }
    fn(copy);
  }
}

void SlowPolls::for_each_place(FunctionRef<void(const SlowPlace&)> fn) {
  for (std::size_t i = 0;; ++i) {
    SlowPlace copy;
    {
      const Lock lock(mutex_);
      if (i == places_count_) return;
      copy = places_[i].place;
    }
    fn(copy);
  }
}

}  // namespace rouse::sight
