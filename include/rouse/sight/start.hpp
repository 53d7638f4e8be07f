// sight::start: a thread that looks into the program when it is asked, also while every worker is
// stuck. It exists only if the program starts it.
//
//   const auto sight = sight::start(sight::Options().dump_on_signal(SIGQUIT).socket());
//
//   kill -QUIT PID         the dump is written to standard error, and the program goes on
//   rouse-top PID          tasks, load and slow polls, in a terminal; with --web in a browser
//
// or, without a choice in the program, by ROUSE_SIGHT=socket,dump=QUIT in its environment:
//
//   const auto sight = sight::from_environment();
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/sight/options.hpp"  // IWYU pragma: export

namespace rouse::sight {

/// The thread: it ends with this.
class ROUSE_API Sight {
 public:
  /// No thread.
  Sight() noexcept;
  Sight(Sight&&) noexcept;
  Sight& operator=(Sight&&) noexcept;
  ~Sight();

  /// Whether there is one.
  [[nodiscard]] explicit operator bool() const noexcept;
  /// Of the page, with its token: for a browser on this machine. Empty without Options::tcp.
  [[nodiscard]] std::string url() const;
  /// Empty without Options::socket.
  [[nodiscard]] std::string socket_path() const;

 private:
  friend ROUSE_API Sight start(const Options& options);
  class Thread;
  explicit Sight(rouse::internal::Box<Thread> thread) noexcept;

  rouse::internal::Box<Thread> thread_;
};

/// Starts the thread. Not in a child process after fork(2), where it would have to be started anew.
/// Errors: throws std::system_error: invalid_argument if a signal can't be caught;
/// device_or_resource_busy if the program has a handler for Options::sample_signal; those of
/// threads, descriptors and sockets; permission_denied if the directory of the socket is not
/// private.
[[nodiscard("the thread ends at once: keep this in a variable")]] ROUSE_API Sight
start(const Options& options);

/// Starts it as the variable ROUSE_SIGHT says, and says on standard error where the page is. It is
/// a list of: socket, socket=PATH, tcp, tcp=PORT, dump=SIGNAL (as QUIT), watch, record,
/// record=4MiB, slow_poll, slow_poll=10ms, stuck, stuck=1s. 1 stands for
/// socket,dump=QUIT,watch,slow_poll,stuck. Without the variable, or in a program that runs with
/// more rights than whoever started it has (setuid), nothing starts. What is wrong is told on
/// standard error, and the program goes on without.
[[nodiscard("the thread ends at once: keep this in a variable")]] ROUSE_API Sight
from_environment();

}  // namespace rouse::sight
