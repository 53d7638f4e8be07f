// SlowPolls: the slow polls of this process that are remembered, and which of them are told. It
// needs no memory, so a program whose polls are all slow is no worse off.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/thread.hpp"

#include "exec/task/sample.hpp"
#include "sight/told_code.hpp"

namespace rouse::sight {

struct KnownSlowPoll {
  rouse::internal::Sample sample;
  Activity activity;
  std::uint64_t seen_at_ns = 0;  // monotonic, when it was sampled
  std::uint64_t duration_ns = 0;
};

/// Where polls were slow: the innermost await, or where the task was spawned if it has none.
struct SlowPlace {
  std::source_location where;  ///< line 0: it was spawned by `code`
  std::uintptr_t code = 0;     ///< both 0: all places that had no room
  std::uint64_t polls = 0;
  std::uint64_t longest_ns = 0;
};

class SlowPolls {
 public:
  static constexpr std::size_t most_kept = 64;
  static constexpr std::size_t most_places = 256;
  static constexpr unsigned most_told_a_second = 5;

  struct Noted {
    std::uint64_t number;    ///< of the slow poll, to note it again
    bool is_to_be_told;      ///< a place is told once, and again when a poll takes twice as long
    std::uint64_t not_told;  ///< since the last that was
  };
  /// `number`: what it was noted as before; 0: it is a new one.
  Noted note(const KnownSlowPoll& poll, std::uint64_t number) noexcept;

  /// The last ones, the oldest first.
  void for_each(rouse::internal::FunctionRef<void(const KnownSlowPoll&)> fn);
  void for_each_place(rouse::internal::FunctionRef<void(const SlowPlace&)> fn);

  void before_process_fork() noexcept { mutex_.lock(); }
  void after_process_fork() noexcept { mutex_.unlock(); }

 private:
  struct Place {
    SlowPlace place;
    std::uint64_t tell_at_ns = 0;  // how long a poll takes that is told
  };
  Place& place_of(const KnownSlowPoll& poll) noexcept;
  bool may_tell(std::uint64_t now) noexcept;

  Mutex mutex_;  // guards all
  std::uint64_t count_ = 0;
  std::array<KnownSlowPoll, most_kept> kept_;
  std::size_t places_count_ = 0;
  std::array<Place, most_places> places_;
  std::uint64_t not_told_ = 0;
  std::uint64_t second_began_ = 0;
  unsigned told_in_second_ = 0;
};

/// Those of this process.
SlowPolls& slow_polls() noexcept;

}  // namespace rouse::sight
