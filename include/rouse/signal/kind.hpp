// signal::Kind: which signal: one of those with a name here, or any number.
#pragma once

#include "rouse/base/internal/attributes.hpp"

namespace rouse::signal {

class ROUSE_API Kind {
 public:
  /// Any signal of the system, such as SIGUSR1; see Signal for those that can't be received.
  constexpr Kind(int number) noexcept : number_(number) {}

  /// SIGALRM.
  static Kind alarm() noexcept;
  static Kind child() noexcept;      ///< a child has ended
  static Kind hangup() noexcept;     ///< terminal closed
  static Kind interrupt() noexcept;  ///< Ctrl-C
  static Kind pipe() noexcept;       ///< write to a closed pipe
  static Kind quit() noexcept;       ///< Ctrl-backslash
  static Kind terminate() noexcept;  ///< what `kill` sends
  /// SIGUSR1: means what the program says.
  static Kind user1() noexcept;
  /// SIGUSR2: means what the program says.
  static Kind user2() noexcept;
  static Kind window_change() noexcept;  ///< terminal resized

  /// The number that the system gives it: SIGINT is 2.
  [[nodiscard]] constexpr int number() const noexcept { return number_; }
  friend constexpr bool operator==(Kind, Kind) noexcept = default;

 private:
  int number_;
};

}  // namespace rouse::signal
