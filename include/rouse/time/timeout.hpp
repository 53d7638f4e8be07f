// timeout, timeout_at: a future that must be done in time.
//
//   auto reply = co_await timeout(2s, ask(server));            // or throws TimedOut
//   auto reply = co_await timeout(2s, ask(server)).result();   // Result: errc::timed_out
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/core/borrow.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timer_entry.hpp"

namespace rouse {

/// What a timeout throws; its code is std::errc::timed_out.
class ROUSE_API TimedOut : public std::system_error {
 public:
  TimedOut();
  ~TimedOut() override;
};

/// Completes when the future does, or at the first tick at or after the deadline. The future is
/// polled first: if both are ready it wins, and it is polled at least once. It is destroyed before
/// the result is handed out; when time is up, midway. Dropped midway, the future is dropped midway.
/// Any thread of a runtime. Errors: TimedOut, and those of the future, which are in `result()` too;
/// but a future that can only throw, as an Async, makes also `result()` throw.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Timeout
    : public Fallible<Timeout<F>, output_t<F>> {
 public:
  Timeout(F&& future, time::Instant deadline) : future_(std::move(future)), timer_(deadline) {}

  Poll<Result<output_t<F>>> poll_result(Context& cx) {
    using Ready = Poll<Result<output_t<F>>>;
    ROUSE_ASSERT(future_.has_value(), "a timeout was polled again after it was ready");
    const bool had_budget = cx.has_budget();  // if not, the task was woken and comes back with some
    Ready polled = poll_future(cx);
    if (polled.is_ready()) {
      future_.reset();
      return polled;
    }
    // Not a matter of the task's budget: a future that uses it up must not put the end off. But
    // what was used up before says nothing about the future, which is asked once more.
    if (!timer_.poll(cx) || (!had_budget && !std::exchange(is_put_off_, true))) return pending;
    future_.reset();
    return Ready::ready(Result<output_t<F>>(std::errc::timed_out));
  }

  /// The future's own error, or that there was no time left.
  [[noreturn]] static void throw_error(const std::error_code& error) {
    if (error == std::make_error_code(std::errc::timed_out)) throw TimedOut();
    throw std::system_error(error);
  }
  [[nodiscard]] time::Instant deadline() const noexcept { return timer_.deadline; }
  [[nodiscard]] bool borrows() const noexcept { return future_ && future_borrows(*future_); }

 private:
  /// An operation that fails with an error code tells it, others throw.
  Poll<Result<output_t<F>>> poll_future(Context& cx) {
    using Ready = Poll<Result<output_t<F>>>;
    if constexpr (requires { future_->poll_result(cx); }) {
      return future_->poll_result(cx);
    } else {
      Outcome<output_t<F>> outcome;
      if (!poll_into(outcome, *future_, cx)) return pending;
      future_.reset();
      if constexpr (std::is_void_v<output_t<F>>) {
        outcome.take();
        return Ready::ready(Result<void>());
      } else {
        return Ready::ready(Result<output_t<F>>(outcome.take()));
      }
    }
  }

  std::optional<F> future_;
  time::TimerEntry timer_;
  bool is_put_off_ = false;
};

/// Gives `future` until `deadline`.
template <class Duration, class F>
auto timeout_at(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline, F&& future) {
  using Kept = std::remove_cvref_t<F>;
  constexpr bool is_future = Future<Kept>;
  static_assert(
      is_future,
      "timeout needs a duration (or a time) and a future: did you pass a function instead "
      "of calling it? write timeout(1s, f())");
  constexpr bool can_keep = std::constructible_from<Kept, F>;
  static_assert(!is_future || can_keep,
                "timeout keeps its future by value and this one can't be copied: write "
                "timeout(1s, std::move(f))");
  constexpr bool gives_value = !std::is_reference_v<output_or_void_t<F>>;
  static_assert(gives_value,
                "timeout of a future whose output is a reference: let it give a pointer");
  if constexpr (is_future && can_keep && gives_value) {
    return Timeout<Kept>(Kept(std::forward<F>(future)), time::saturate(deadline));
  }
}

/// Gives `future` so much time, from this call on. Zero or less: one poll.
template <class Rep, class Period, class F>
auto timeout(std::chrono::duration<Rep, Period> duration, F&& future) {
  return timeout_at(time::add(time::now(), time::saturate(duration)), std::forward<F>(future));
}

}  // namespace rouse
