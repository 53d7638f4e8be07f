#include "sight/watchdog.hpp"

#include <algorithm>
#include <utility>

#include "exec/task/examinable.hpp"
#include "sight/trace.hpp"
#include "sys/clock.hpp"

namespace rouse::sight {

using rouse::internal::PollUnderWay;
using rouse::internal::Sample;

namespace {

/// Workers that are watched; those beyond are not.
constexpr std::size_t most_workers = 4096;
/// A signal interrupts a thread, so there are only so many.
constexpr unsigned most_asked_a_second = 50;
constexpr std::uint64_t shortest_interval = 250'000;
constexpr std::chrono::milliseconds answer_time(20);

SlowPoll as_told(const KnownSlowPoll& known) noexcept {
  const Sample& sample = known.sample;
  SlowPoll poll;
  poll.task = sample.task;
  poll.name = sample.name[0] == 0 ? nullptr : sample.name;
  poll.spawned_at = sample.spawned_at.source();
  poll.spawned_by = sample.spawned_at.code();
  poll.duration = std::chrono::nanoseconds(known.duration_ns);
  poll.doing = known.activity.doing;
  poll.system_call = known.activity.system_call;
  poll.system_call_name = known.activity.system_call_name;
  poll.descriptor = known.activity.descriptor;
  poll.awaits = sample.its_awaits();
  poll.awaits_left_out = sample.awaits_cut;
  poll.stack = sample.its_stack();
  return poll;
}

}  // namespace

Watchdog::Watchdog(const Options& options, Watch)
    : threshold_(static_cast<std::uint64_t>(
          std::max(options.slow_poll_threshold().count(), std::chrono::nanoseconds::rep{1}))),
      interval_(std::max(threshold_ / 4, shortest_interval)),
      on_slow_poll_(options.slow_poll_hook()) {
  last_.reserve(most_workers);
  seen_.reserve(most_workers);
  (void)slow_polls();  // before there may be a fork that it has to know of
}

std::chrono::nanoseconds Watchdog::look() noexcept {
  now_ = sys::monotonic_ns();
  if (now_ >= next_look_) {
    std::swap(last_, seen_);
    seen_.clear();
    at_ = 0;
    rouse::internal::ExamineAll all;
    now_ = sys::monotonic_ns();
    while (rouse::internal::Examinable* const executor = all.next()) executor->show_polls(*this);
    now_ = sys::monotonic_ns();
    next_look_ = now_ + interval_;
  }
  return std::chrono::nanoseconds(next_look_ - now_);
}

void Watchdog::see(const PollUnderWay& poll) noexcept {
  if (seen_.size() == most_workers) return;
  seen_.push_back(before(poll));
  Seen& seen = seen_.back();
  if (now_ == seen.since) return;
  if (seen.times.on_cpu_ns == 0) seen.times = sys::thread_times(poll.thread);
  if (now_ - seen.since < seen.ask_at) return;
  seen.ask_at = 2 * (now_ - seen.since);
  if (may_ask()) ask(seen);
}

/// What the last look saw, if it was the same.
Watchdog::Seen Watchdog::before(const PollUnderWay& poll) noexcept {
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const std::size_t at = (at_ + i) % last_.size();
    const PollUnderWay& last = last_[at].poll;
    if (last.of != poll.of) continue;
    at_ = at + 1;
    if (last.number == poll.number && last.task == poll.task && last.thread == poll.thread) {
      return last_[at];
    }
    break;
  }
  return Seen{.poll = poll, .since = now_, .ask_at = threshold_, .times = {}, .noted_as = 0};
}

/// What the thread does comes first, since the signal ends it. The sample counts only if it is of
/// the same poll: so both are.
void Watchdog::ask(Seen& seen) noexcept {
  KnownSlowPoll known;
  known.activity = activity_of(seen.poll.thread, seen.times);
  if (!take_sample(seen.poll, answer_time, known.sample)) return;
  if (known.sample.poll != seen.poll.number) return;
  known.seen_at_ns = now_;
  known.duration_ns = now_ - seen.since;
  const SlowPolls::Noted noted = slow_polls().note(known, seen.noted_as);
  seen.noted_as = noted.number;
  if (noted.is_to_be_told) tell(known, noted.not_told);
  trace_after_slow_poll();
}

void Watchdog::tell(const KnownSlowPoll& known, std::uint64_t not_told) const noexcept {
  SlowPoll poll = as_told(known);
  poll.not_told = not_told;
  if (on_slow_poll_) return on_slow_poll_(poll);
  char buffer[4096];
  Out out = Out::without_blocking(2, stderr_patience, buffer, sizeof buffer);
  write_text(out, poll);
  (void)out.flush();  // nobody is there to be told that it is gone
}

bool Watchdog::may_ask() noexcept {
  if (now_ - second_began_ >= 1'000'000'000) {
    second_began_ = now_;
    asked_in_second_ = 0;
  }
  return ++asked_in_second_ <= most_asked_a_second;
}

void write_slow_polls(Out& out) {
  out.put('[');
  bool is_first = true;
  slow_polls().for_each([&](const KnownSlowPoll& known) {
    const Sample& sample = known.sample;
    out.put(is_first ? "\n{" : ",\n{");
    is_first = false;
    out.put("\"seen_at_ns\":").put(known.seen_at_ns);
    out.put(",\"duration_ns\":").put(known.duration_ns);
    out.put(",\"task\":").put(sample.task);
    if (sample.name[0] != 0) out.put(",\"name\":").put_json(sample.name);
    if (sample.spawned_at.source().line() != 0) {
      put_json_place(out.put(",\"spawned\":"), sample.spawned_at.source());
    } else if (sample.spawned_at.code() != 0) {
      put_json_code(out.put(",\"spawned\":"), sample.spawned_at.code());
    }
    put_json_activity(out.put(','), known.activity);
    out.put(",\"at\":[");
    for (const std::source_location& where : sample.its_awaits()) {
      if (&where != sample.awaits.data()) out.put(',');
      put_json_place(out, where);
    }
    put_json_stack(out.put("],"), sample.its_stack());
    out.put('}');
  });
  out.put("]\n");
}

}  // namespace rouse::sight
