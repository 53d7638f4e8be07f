#include "sight/recording.hpp"

#include <new>
#include <utility>

#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/thread.hpp"

#include "base/assert_context.hpp"
#include "base/recorder.hpp"
#include "sight/trace.hpp"
#include "sight/trace_file.hpp"
#include "sys/clock.hpp"
#include "sys/process_fork.hpp"

namespace rouse::sight {

namespace recorder = rouse::internal::recorder;
namespace {

constexpr std::uint64_t slow_poll_interval_ns = 10'000'000'000;

/// While a trace is written it is locked, so that its path lives as long.
struct Recordings {
  Mutex mutex;
  Recording* first = nullptr;
};
/// Never destroyed: an assertion may fail at the very end.
Recordings& recordings() noexcept {
  alignas(Recordings) static char place[sizeof(Recordings)];
  static Recordings& made = *new (place) Recordings;
  return made;
}

/// Nobody is there to be told that a file could not be written.
void write_trace_if_wanted(const std::string& path) noexcept {
  if (!path.empty()) (void)write_trace_file(path.c_str());
}

/// Nobody waits for the lock before a fork: who has it may wait for others that a fork locks. In
/// the child nobody has it.
[[maybe_unused]] const bool forks_free_recordings =
    sys::at_process_fork([] {}, [] {}, [] { new (&recordings().mutex) Mutex; });

/// Waits for another trace, but not for ever: this thread itself may be writing one.
void trace_failure() noexcept {
  constexpr std::uint64_t longest_ns = 1'000'000'000;
  const std::uint64_t begun = sys::monotonic_ns();
  Lock lock(recordings().mutex, std::try_to_lock);
  for (unsigned attempt = 0; !lock.owns_lock(); ++attempt) {
    if (sys::monotonic_ns() - begun > longest_ns) return;
    rouse::internal::back_off(attempt);
    (void)lock.try_lock();
  }
  for (const Recording* each = recordings().first; each != nullptr; each = each->next) {
    write_trace_if_wanted(each->failure_trace);
  }
}

}  // namespace

Recording::Recording(const Options& options, Watch)
    : slow_poll_trace(options.slow_poll_trace()),
      failure_trace(options.failure_trace()),
      number_(recorder::start(options.recorded_bytes())) {
  const Lock lock(recordings().mutex);
  next = std::exchange(recordings().first, this);
  if (!failure_trace.empty())
    rouse::internal::before_abort.store(trace_failure, memory_order_relaxed);
}

Recording::~Recording() {
  {
    const Lock lock(recordings().mutex);
    Recording** link = &recordings().first;
    while (*link != nullptr && *link != this) link = &(*link)->next;
    if (*link == this) *link = next;  // not if it was made during the fork that made this process
  }
  recorder::stop(number_);
}

void trace_after_slow_poll() noexcept {
  const Lock lock(recordings().mutex);
  const std::uint64_t now = sys::monotonic_ns();
  for (Recording* each = recordings().first; each != nullptr; each = each->next) {
    if (now < each->next_slow_poll_ns) continue;
    each->next_slow_poll_ns = now + slow_poll_interval_ns;
    write_trace_if_wanted(each->slow_poll_trace);
  }
}

}  // namespace rouse::sight
