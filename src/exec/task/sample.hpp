// Sample: what a thread that polls a task for long says of itself when it is interrupted: which
// task it polls, at which awaits that is, and the native stack.
//
// There is one slot, for one sample at a time. Its word says how far it is:
//
//   idle --take_sample--> asked --the handler--> taken --the handler--> idle, and given
//                           '---take_sample, after its patience---> idle
//
// The handler reads and writes the slot only as `taken`, and take_sample waits for the end of that;
// so a signal that comes late finds nothing, or a later request to the same thread, which it may
// serve. The word counts the requests, so that it is not taken for another.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/exec/internal/spawn_place.hpp"
#include "rouse/exec/task_id.hpp"

#include "core/running_walk.hpp"
#include "exec/task/poll_under_way.hpp"

namespace rouse::internal {

struct Sample {
  static constexpr std::size_t most_awaits = RunningWalk::most_inner + RunningWalk::most_outer;
  static constexpr std::size_t most_outer = RunningWalk::most_outer;
  static constexpr std::size_t most_addresses = 64;
  static constexpr std::size_t longest_name = 64;

  std::uint64_t poll = 0;  ///< its number
  TaskId task = 0;
  SpawnPlace spawned_at;
  char name[longest_name] = {};  ///< empty: it has none; cut
  std::size_t awaits_count = 0;  ///< of those in `awaits`
  std::size_t awaits_cut = 0;    ///< before the `most_outer` last ones
  std::size_t stack_count = 0;
  std::array<std::source_location, most_awaits> awaits{};  ///< the innermost first
  std::array<std::uintptr_t, most_addresses> stack{};

  std::span<const std::source_location> its_awaits() const noexcept {
    return std::span(awaits).first(awaits_count);
  }
  std::span<const std::uintptr_t> its_stack() const noexcept {
    return std::span(stack).first(stack_count);
  }
};

/// From now on, until each begin has had its end, threads can be asked for samples, with the signal
/// of the last begin. Errors: as sys::install_interrupt.
Result<void> begin_sampling(int signal) noexcept;
void end_sampling() noexcept;

/// False: sampling is off, the thread does not answer so soon, or is in no such poll (any more).
/// For an examiner (ExamineAll), so there is one at a time.
bool take_sample(const PollUnderWay& poll, std::chrono::nanoseconds patience,
                 Sample& into) noexcept;

}  // namespace rouse::internal
