// ExitStatus: how a process has ended.
#pragma once

#include <optional>
#include <string>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::process {

class ROUSE_API ExitStatus {
 public:
  /// Of a process that exited.
  static constexpr ExitStatus exited(int code) noexcept { return {true, code, false}; }
  /// Of a process that a signal ended.
  static constexpr ExitStatus killed(int signal, bool core_dumped) noexcept {
    return {false, signal, core_dumped};
  }

  /// It exited with code 0.
  [[nodiscard]] constexpr bool success() const noexcept { return is_exit_ && value_ == 0; }
  /// Its exit code; empty if a signal ended it.
  [[nodiscard]] constexpr std::optional<int> code() const noexcept {
    return is_exit_ ? std::optional(value_) : std::nullopt;
  }
  /// The signal that ended it, if one did.
  [[nodiscard]] constexpr std::optional<int> signal() const noexcept {
    return is_exit_ ? std::nullopt : std::optional(value_);
  }
  /// Whether the system wrote a core dump.
  [[nodiscard]] constexpr bool core_dumped() const noexcept { return core_dumped_; }
  /// "exit code 1", "signal 9", "signal 11 (core dumped)".
  [[nodiscard]] std::string to_string() const;
  friend constexpr bool operator==(const ExitStatus&, const ExitStatus&) noexcept = default;

 private:
  constexpr ExitStatus(bool is_exit, int value, bool core_dumped) noexcept
      : is_exit_(is_exit), core_dumped_(core_dumped), value_(value) {}

  bool is_exit_;
  bool core_dumped_;
  int value_;
};

}  // namespace rouse::process
