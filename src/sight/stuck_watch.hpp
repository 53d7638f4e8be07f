// StuckWatch: looks for tasks that can't go on any more, and tells them (Options::stuck).
//
// Needs no memory, unless there is a hook and something to tell it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rouse/sight/options.hpp"

#include "sight/duty.hpp"
#include "sight/findings.hpp"

namespace rouse::sight {

class StuckWatch final : public Duty {
 public:
  StuckWatch(const Options& options, Watch watch);
  std::chrono::nanoseconds look() noexcept override;

 private:
  /// Findings that are remembered; the oldest is forgotten, and told again if it is still there.
  static constexpr std::size_t most_told = 256;

  void find() noexcept;
  void tell(const Finding& finding) const noexcept;
  bool is_new(const Finding& finding) noexcept;

  const std::uint64_t interval_ns_;
  const Function<void(const Stuck&)> on_stuck_;
  std::uint64_t next_look_ns_ = 0;
  std::array<TaskId, most_told> told_{};  // the lowest id of each finding; a ring
  std::size_t told_count_ = 0;
};

}  // namespace rouse::sight
