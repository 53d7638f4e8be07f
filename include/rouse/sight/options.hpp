// sight::Options: what the thread of sight (start.hpp) does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/slow_poll.hpp"
#include "rouse/sight/stuck.hpp"

namespace rouse::sight {

/// What the thread does.
class Options {
 public:
  Options() noexcept = default;

  /// What slow_poll takes unless it is told otherwise.
  static constexpr std::chrono::nanoseconds default_threshold = std::chrono::milliseconds(10);
  /// What stuck takes unless it is told otherwise.
  static constexpr std::chrono::nanoseconds default_interval = std::chrono::seconds(1);

  /// Writes a dump to `fd`, which stays open, whenever the signal comes: see signal::Kind for the
  /// numbers. The signal does not end the process any more; a handler that was there before is
  /// called still. If `fd` takes nothing for a second, the rest is lost.
  Options& dump_on_signal(int number, int fd = 2, Format format = Format::text) {
    signals_.push_back({number, fd, format});
    return *this;
  }

  /// Answers rouse-top, and whoever speaks HTTP, at a Unix socket that only this user and root may
  /// open: $XDG_RUNTIME_DIR/rouse/PID.sock, or /tmp/rouse-UID/PID.sock where there is no such
  /// variable. The file is removed at the end.
  Options& socket() { return socket(std::string()); }
  /// The same at this path, which may be 107 bytes long. A socket there that nobody listens at any
  /// more is replaced.
  Options& socket(std::string path) {
    socket_path_ = std::move(path);
    return *this;
  }
  /// Shows the page to browsers on this machine, at this port of 127.0.0.1; 0: any that is free.
  /// Sight::url() has the token that a reader needs.
  Options& tcp(std::uint16_t port = 0) noexcept {
    tcp_port_ = port;
    return *this;
  }
  /// Measures what each poll takes, and how long woken tasks wait for theirs: see metrics.hpp.
  Options& watch() noexcept {
    watches_ = true;
    return *this;
  }

  /// Records what each thread does of late, in so much memory a thread, which is rounded up to a
  /// power of two: see sight/trace.hpp. A mebibyte is some ten thousand polls. The first Sight of
  /// several that record decides.
  Options& record(std::size_t bytes_a_thread = std::size_t{1} << 20) noexcept {
    recorded_bytes_ = bytes_a_thread;
    return *this;
  }
  /// Records, and writes the trace to this file after a slow poll (at most every ten seconds, over
  /// the one before).
  Options& trace_on_slow_poll(std::string path) {
    slow_poll_trace_ = std::move(path);
    return *this;
  }
  /// Records, and writes the trace to this file when an assertion of rouse fails, before the
  /// program aborts.
  Options& trace_on_failure(std::string path) {
    failure_trace_ = std::move(path);
    return *this;
  }
  /// 0: nothing is recorded.
  [[nodiscard]] std::size_t recorded_bytes() const noexcept {
    const bool is_needed = !slow_poll_trace_.empty() || !failure_trace_.empty();
    return recorded_bytes_ == 0 && is_needed ? std::size_t{1} << 20 : recorded_bytes_;
  }
  /// Empty: there is none.
  [[nodiscard]] const std::string& slow_poll_trace() const noexcept { return slow_poll_trace_; }
  /// Empty: there is none.
  [[nodiscard]] const std::string& failure_trace() const noexcept { return failure_trace_; }
  /// Watches for polls that last this long, on workers and on threads that run a LocalExecutor or
  /// a current-thread runtime. It costs them nothing. A slow poll is told on standard error, unless
  /// that is full: at most five a second, and polls at one place once, then when one takes twice as
  /// long. One inside block_in_place is not slow.
  Options& slow_poll(std::chrono::nanoseconds threshold = default_threshold) noexcept {
    slow_poll_threshold_ = threshold;
    return *this;
  }
  /// The same, with this called instead, on the thread of sight. It must not throw.
  Options& on_slow_poll(Function<void(const SlowPoll&)> hook) {
    slow_poll_hook_ = std::move(hook);
    return *this;
  }
  /// Looks this often for tasks that can't go on any more (stuck.hpp), but spends at most a tenth
  /// of one CPU on it. Each deadlock, and each group of tasks that nobody can wake, is told once on
  /// standard error.
  Options& stuck(std::chrono::nanoseconds interval = default_interval) noexcept {
    stuck_interval_ = interval;
    return *this;
  }
  /// The same, with this called instead, on the thread of sight. It must not throw.
  Options& on_stuck(Function<void(const Stuck&)> hook) {
    stuck_hook_ = std::move(hook);
    return *this;
  }
  /// The signal that has a thread say what it polls, in a slow poll and when a dump has waited for
  /// it in vain. SIGRTMIN + 7 unless this is called; the program has no other use for it. Calls
  /// that it interrupts are restarted, but for those that never are, such as poll(2) and
  /// nanosleep(2): they fail with EINTR.
  Options& sample_signal(int number) noexcept {
    sample_signal_ = number;
    return *this;
  }

  /// 0: slow polls are not watched.
  [[nodiscard]] std::chrono::nanoseconds slow_poll_threshold() const noexcept {
    const bool is_needed = static_cast<bool>(slow_poll_hook_) || !slow_poll_trace_.empty();
    const bool is_default = slow_poll_threshold_ == std::chrono::nanoseconds() && is_needed;
    return is_default ? default_threshold : slow_poll_threshold_;
  }
  /// Empty: they are told on standard error.
  [[nodiscard]] const Function<void(const SlowPoll&)>& slow_poll_hook() const noexcept {
    return slow_poll_hook_;
  }
  /// 0: nobody looks for stuck tasks.
  [[nodiscard]] std::chrono::nanoseconds stuck_interval() const noexcept {
    const bool is_default =
        stuck_interval_ == std::chrono::nanoseconds() && static_cast<bool>(stuck_hook_);
    return is_default ? default_interval : stuck_interval_;
  }
  /// Empty: they are told on standard error.
  [[nodiscard]] const Function<void(const Stuck&)>& stuck_hook() const noexcept {
    return stuck_hook_;
  }
  /// 0: SIGRTMIN + 7.
  [[nodiscard]] int sample_signal() const noexcept { return sample_signal_; }

  /// A dump that a signal asks for.
  struct SignalDump {
    int number;     ///< of the signal
    int fd;         ///< where the dump goes
    Format format;  ///< of the dump
  };
  /// All that were asked for.
  [[nodiscard]] const std::vector<SignalDump>& signals() const noexcept { return signals_; }
  /// See watch.
  [[nodiscard]] bool watches() const noexcept { return watches_; }
  /// Nothing: no socket. Empty: the usual place.
  [[nodiscard]] const std::optional<std::string>& socket_path() const noexcept {
    return socket_path_;
  }
  /// Nothing: no port.
  [[nodiscard]] std::optional<std::uint16_t> tcp_port() const noexcept { return tcp_port_; }

 private:
  bool watches_ = false;
  std::vector<SignalDump> signals_;
  std::optional<std::string> socket_path_;
  std::optional<std::uint16_t> tcp_port_;
  std::size_t recorded_bytes_ = 0;
  std::string slow_poll_trace_;
  std::string failure_trace_;
  std::chrono::nanoseconds slow_poll_threshold_{};
  Function<void(const SlowPoll&)> slow_poll_hook_;
  std::chrono::nanoseconds stuck_interval_{};
  Function<void(const Stuck&)> stuck_hook_;
  int sample_signal_ = 0;
};

}  // namespace rouse::sight
