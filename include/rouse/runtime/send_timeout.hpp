// send_timeout: a `send` into a bounded channel that waits for room only so long.
//
//   auto sending = send_timeout(tx, std::move(job), 200ms);
//   if (!co_await sending) keep(std::move(sending.message()));   // full for too long, or closed
#pragma once

#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/sender.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse {

/// Completes when the message is in the channel, or when the time is up. If both are the case, it
/// is in the channel. Cancel safety: if dropped before, its message and its place in the queue are
/// lost; take `message` first. Threads: any thread of a runtime. Errors: errc::timed_out (there was
/// no room), errc::broken_pipe (nobody receives any more); the message is then in `message`.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SendTimeout {
 public:
  using Output = Result<void>;

  SendTimeout(const sync::Sender<T>& sender, T&& message, time::Instant deadline) noexcept
      : send_(std::in_place, sender.send(std::move(message))), timer_(deadline) {}

  Poll<Result<void>> poll(Context& cx) {
    const bool had_budget = cx.has_budget();  // if not, it is polled once more: see Timeout
    ROUSE_ASSERT(send_, "a send_timeout was polled again after its time was up");
    Poll<Result<void>> sent = (*send_).poll(cx);
    if (sent.is_ready()) return sent;
    if (!timer_.poll(cx) || (!had_budget && !std::exchange(is_put_off_, true))) return pending;
    unsent_.emplace(std::move((*send_).message()));
    send_.reset();  // leaves the queue: the next room is for others
    return Poll<Result<void>>::ready(std::errc::timed_out);
  }
  /// The message, as long as it was not sent.
  [[nodiscard]] T& message() noexcept ROUSE_LIFETIMEBOUND {
    return unsent_ ? *unsent_ : (*send_).message();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SendTimeout, "send_timeout", any_of, &SendTimeout::send_, &SendTimeout::timer_)

 private:
  internal::Maybe<sync::Send<T>> send_;  // until the time is up
  std::optional<T> unsent_;              // from then on
  internal::TimerEntry timer_;
  bool is_put_off_ = false;
};

/// Sends `message` and waits for room for at most `duration`, counted from this call. Zero or less:
/// sends if there is room now. Borrows the sender.
template <class T, class Rep, class Period>
[[nodiscard]] SendTimeout<T> send_timeout(const sync::Sender<T>& sender ROUSE_LIFETIMEBOUND,
                                          std::type_identity_t<T> message,
                                          std::chrono::duration<Rep, Period> duration) {
  return SendTimeout<T>(sender, std::move(message),
                        time::add(time::now(), internal::saturate(duration)));
}

}  // namespace rouse
