// timeout, timeout_at: a time limit for a future.
//
//   auto reply = co_await timeout(2s, ask(server));            // or throws TimedOut
//   auto reply = co_await timeout(2s, ask(server)).result();   // Result: errc::timed_out
#pragma once

#include <concepts>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse {

/// Thrown by whatever limits a time; its code equals std::errc::timed_out.
class ROUSE_API TimedOut : public std::system_error {
 public:
  explicit TimedOut(std::source_location where = std::source_location::current());
  /// Of a limit that has an error code of its own.
  TimedOut(std::error_code why, std::source_location where);
  ~TimedOut() override;
  /// Where the timeout is written: tells nested ones apart. `what()` names it, too.
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

namespace internal {

[[noreturn]] ROUSE_API void throw_timed_out(std::source_location where);

}  // namespace internal

/// Completes when the future does, or at the first tick at or after the deadline. The future is
/// polled first: if both are ready, the future wins, and it is polled at least once. It is
/// destroyed before the result is returned; when the time is up, midway.
/// Cancel safety: dropping it drops the future midway.
/// Threads: any thread of a runtime.
/// Errors: TimedOut, and those of the future, which are in `result()` too. If the future can only
/// throw, like an Async, `result()` throws as well.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Timeout {
 public:
  using Output = output_t<F>;
  static constexpr bool polled_out_of_line = true;

  Timeout(F&& future, time::Instant deadline,
          std::source_location where = std::source_location::current())
      : future_(std::in_place, std::move(future)), timer_(deadline), where_(where) {}

  Poll<Output> poll(Context& cx) {
    Poll<Output> polled = poll_future(cx, [&] { return internal::finish(future_, cx); });
    if (polled.is_pending() && !future_) internal::throw_timed_out(where_);
    return polled;
  }
  Poll<Result<Output>> poll_result(Context& cx) {
    auto polled = poll_future(cx, [&] { return internal::finish_as_result(future_, cx); });
    if (polled.is_pending() && !future_) return decltype(polled)::ready(std::errc::timed_out);
    return polled;
  }
  /// The same with errc::timed_out instead of an exception. Before the first poll.
  [[nodiscard]] ResultOf<Timeout, Output> result() && {
    return ResultOf<Timeout, Output>(std::move(*this));
  }
  [[nodiscard]] ResultOf<Timeout, Output> result() & { return std::move(*this).result(); }
  /// When the time is up.
  [[nodiscard]] time::Instant deadline() const noexcept { return timer_.deadline; }
  [[nodiscard]] bool borrows() const noexcept {
    return future_ && internal::future_borrows(*future_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Timeout, "timeout", any_of, &Timeout::future_, &Timeout::timer_)

 private:
  /// Pending without a future: the time is up.
  template <class PollFn>
  auto poll_future(Context& cx, PollFn&& poll_fn) {
    ROUSE_ASSERT(future_.has_value(), "a timeout was polled again after it was ready");
    const bool had_budget =
        cx.has_budget();  // if not, the task was woken and will be polled with a new one
    auto polled = poll_fn();
    // Independent of the task's budget: a future that uses it up must not delay the timeout. But a
    // budget that was used up before says nothing about the future, which is polled once more.
    if (polled.is_pending() && timer_.poll(cx) &&
        (had_budget || std::exchange(is_put_off_, true))) {
      future_.reset();
    }
    return polled;
  }

  internal::Maybe<F> future_;
  internal::TimerEntry timer_;
  std::source_location where_;
  bool is_put_off_ = false;
};

/// Limits `future` to `deadline`.
template <class Duration, class F>
auto timeout_at(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline, F&& future,
                std::source_location where = std::source_location::current()) {
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
    return Timeout<Kept>(Kept(std::forward<F>(future)), internal::saturate(deadline), where);
  }
}

/// Limits `future` to `duration`, counted from this call. Zero or less: one poll.
template <class Rep, class Period, class F>
auto timeout(std::chrono::duration<Rep, Period> duration, F&& future,
             std::source_location where = std::source_location::current()) {
  return timeout_at(time::add(time::now(), internal::saturate(duration)), std::forward<F>(future),
                    where);
}

}  // namespace rouse
