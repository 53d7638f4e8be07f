// Watchdog: finds polls that take long while they last, and tells them (Options::slow_poll).
//
// It costs workers nothing: the thread of sight looks, four times in the threshold, how many polls
// each worker and LocalCore has begun. The same number twice, by a thread that is not parked: one
// poll, or none. When it is as old as the threshold the thread is asked (exec/task/sample.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "rouse/sight/options.hpp"
#include "rouse/sight/slow_poll.hpp"

#include "exec/task/poll_under_way.hpp"
#include "sight/duty.hpp"
#include "sight/out.hpp"
#include "sight/slow_polls.hpp"

namespace rouse::sight {

class Watchdog final : public Duty, private rouse::internal::PollVisitor {
 public:
  Watchdog(const Options& options, Watch watch);
  std::chrono::nanoseconds look() noexcept override;

 private:
  struct Seen {
    rouse::internal::PollUnderWay poll;
    std::uint64_t since = 0;
    std::uint64_t ask_at = 0;    // when it is so old; doubles
    sys::ThreadTimes times;      // of its thread, at the second look
    std::uint64_t noted_as = 0;  // 0: it is not known to be slow
  };

  void see(const rouse::internal::PollUnderWay& poll) noexcept override;
  Seen before(const rouse::internal::PollUnderWay& poll) noexcept;
  void ask(Seen& seen) noexcept;
  void tell(const KnownSlowPoll& known, std::uint64_t not_told) const noexcept;
  bool may_ask() noexcept;

  const std::uint64_t threshold_;
  const std::uint64_t interval_;
  const Function<void(const SlowPoll&)> on_slow_poll_;
  std::uint64_t now_ = 0;
  std::uint64_t next_look_ = 0;
  std::vector<Seen> last_;  // of the last look, in the order of the list of schedulers
  std::vector<Seen> seen_;
  std::size_t at_ = 0;  // in `last_`: about where the next one is
  std::uint64_t second_began_ = 0;
  unsigned asked_in_second_ = 0;
};

void write_text(Out& out, const SlowPoll& poll);
/// The last slow polls of this process as a JSON array, the oldest first. Needs no memory.
void write_slow_polls(Out& out);

}  // namespace rouse::sight
