#include "sight/stuck_watch.hpp"

#include <algorithm>

#include "sys/clock.hpp"

namespace rouse::sight {
namespace {

/// For LocalExecutors whose threads sleep. The other duties wait as long.
constexpr std::chrono::milliseconds patience(10);
constexpr std::uint64_t shortest_interval_ns = 1'000'000;
/// Of one CPU: a look at a million tasks takes a third of a second.
constexpr std::uint64_t parts_of_cpu = 10;

}  // namespace

StuckWatch::StuckWatch(const Options& options, Watch)
    : interval_ns_(std::max(static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(
                                options.stuck_interval().count(), 0)),
                            shortest_interval_ns)),
      on_stuck_(options.stuck_hook()) {}

std::chrono::nanoseconds StuckWatch::look() noexcept {
  const std::uint64_t begun = sys::monotonic_ns();
  if (begun < next_look_ns_) return std::chrono::nanoseconds(next_look_ns_ - begun);
  find();
  const std::uint64_t took = sys::monotonic_ns() - begun;
  const std::uint64_t pause = std::max(interval_ns_, parts_of_cpu * took);
  next_look_ns_ = begun + pause;
  return std::chrono::nanoseconds(pause - took);
}

void StuckWatch::find() noexcept {
  const Snapshot snapshot(patience, Snapshot::Asks::no);
  for_each_finding(snapshot, [&](const Finding& finding) {
    if (is_new(finding)) tell(finding);
  });
}

bool StuckWatch::is_new(const Finding& finding) noexcept {
  const TaskId id = finding.lowest_id();
  const auto end = told_.begin() + std::min(told_count_, most_told);
  if (std::find(told_.begin(), end, id) != end) return false;
  told_[told_count_++ % most_told] = id;
  return true;
}

void StuckWatch::tell(const Finding& finding) const noexcept {
  if (on_stuck_) return on_stuck_(finding.told());
  char buffer[4096];
  Out out = Out::without_blocking(2, stderr_patience, buffer, sizeof buffer);
  out.put("rouse: can't go on: ");
  finding.write(out);
  (void)out.flush();  // nobody is there to be told that it is gone
}

}  // namespace rouse::sight
