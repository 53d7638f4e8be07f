// The numbers are here, so that no user compiles <csignal> for them.
#include "rouse/signal/kind.hpp"

#include <csignal>

namespace rouse::signal {

Kind Kind::alarm() noexcept { return {SIGALRM}; }
Kind Kind::child() noexcept { return {SIGCHLD}; }
Kind Kind::hangup() noexcept { return {SIGHUP}; }
Kind Kind::interrupt() noexcept { return {SIGINT}; }
Kind Kind::pipe() noexcept { return {SIGPIPE}; }
Kind Kind::quit() noexcept { return {SIGQUIT}; }
Kind Kind::terminate() noexcept { return {SIGTERM}; }
Kind Kind::user1() noexcept { return {SIGUSR1}; }
Kind Kind::user2() noexcept { return {SIGUSR2}; }
Kind Kind::window_change() noexcept { return {SIGWINCH}; }

}  // namespace rouse::signal
