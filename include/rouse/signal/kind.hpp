// signal::Kind: which signal: one of those with a name here, or any number.
#pragma once

#include <csignal>

namespace rouse::signal {

class Kind {
 public:
  /// Any that the system has, as SIGUSR1; see Signal for those that can't be received.
  constexpr Kind(int number) noexcept : number_(number) {}

  static constexpr Kind alarm() noexcept { return Kind(SIGALRM); }
  static constexpr Kind child() noexcept { return Kind(SIGCHLD); }      ///< one has ended
  static constexpr Kind hangup() noexcept { return Kind(SIGHUP); }      ///< terminal closed
  static constexpr Kind interrupt() noexcept { return Kind(SIGINT); }   ///< Ctrl-C
  static constexpr Kind pipe() noexcept { return Kind(SIGPIPE); }       ///< nobody reads it
  static constexpr Kind quit() noexcept { return Kind(SIGQUIT); }       ///< Ctrl-backslash
  static constexpr Kind terminate() noexcept { return Kind(SIGTERM); }  ///< what `kill` sends
  static constexpr Kind user1() noexcept { return Kind(SIGUSR1); }
  static constexpr Kind user2() noexcept { return Kind(SIGUSR2); }
  static constexpr Kind window_change() noexcept { return Kind(SIGWINCH); }  ///< terminal resized

  [[nodiscard]] constexpr int number() const noexcept { return number_; }
  friend constexpr bool operator==(Kind, Kind) noexcept = default;

 private:
  int number_;
};

}  // namespace rouse::signal
