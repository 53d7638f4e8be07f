#include "sight/signal_dumps.hpp"

#include <system_error>
#include <utility>

#include "sight/formats.hpp"
#include "sight/value_or_throw.hpp"
#include "sys/fd.hpp"
#include "sys/interrupt.hpp"
#include "sys/signal.hpp"

namespace rouse::sight {

SignalDumps::SignalDumps(const Options& options, Watch watch) {
  const int sampling =
      options.sample_signal() == 0 ? sys::default_interrupt() : options.sample_signal();
  for (const Options::SignalDump& dump : options.signals()) {
    if (dump.number == sampling) {
      throw std::system_error(
          make_error_code(std::errc::invalid_argument),
          "sight::start: dump_on_signal of the signal that asks threads what they poll, as a dump "
          "does: choose another, or another for Options::sample_signal");
    }
    if (const Result<void> counted = sys::count_signal(dump.number); !counted) {
      throw std::system_error(
          counted.error(),
          "sight::start: dump_on_signal of a signal that can't be caught: choose "
          "another, such as SIGQUIT");
    }
    signals_.push_back({.dump = dump, .seen = sys::signal_count(dump.number)});
  }
  // A descriptor of its own, as each reactor has one.
  event_ = value_or_throw(sys::duplicate(sys::signal_event()), "sight::start");
  const Result<void> added = watch.add(event_.get(), 0, io::Interest::readable);
  if (!added) throw std::system_error(added.error(), "sight::start");
}

/// The event of a signal comes after its count: so each signal is seen by the look before a wait,
/// or ends it.
std::chrono::nanoseconds SignalDumps::look() noexcept {
  for (Watched& signal : signals_) {
    const std::uint64_t count = sys::signal_count(signal.dump.number);
    if (std::exchange(signal.seen, count) == count) continue;
    // Nobody is there to be told that the output is gone, or full.
    (void)dump_without_blocking(signal.dump.fd, signal.dump.format);
  }
  return std::chrono::nanoseconds::max();
}

}  // namespace rouse::sight
