// Deadline: the time by which a piece of asynchronous work is to be done, for all that it calls.
//
//   co_await with_deadline(2s, handle(request));    // a server, for each request
//   co_await timeout_or_deadline(5s, ask(server));  // a client: 5 s, or what is left of the 2 s
//
// A deadline ends nothing by itself. It is a TaskLocal that operations obey: those of clients, and
// whatever is wrapped in timeout_or_deadline. So code that has nothing to wait for can still clean
// up and answer. Deadlines nest, and the earliest counts, wherever it was set. A spawned task does
// not inherit it: work in the background is cut loose on purpose; children of `parallel` and
// `scope` do.
#pragma once

#include <concepts>
#include <optional>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"
#include "rouse/time/timeout.hpp"

namespace rouse {

/// Why an operation ended early though its own timeout had not passed. It also equals
/// std::errc::timed_out.
enum class DeadlineError {
  passed = 1,  ///< the deadline of the work that it is a part of
};

/// The category of DeadlineError.
ROUSE_API const std::error_category& deadline_error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(DeadlineError error) noexcept {
  return {static_cast<int>(error), deadline_error_category()};
}

/// Asks for the deadline of what this thread polls now.
/// Threads: any.
class ROUSE_API Deadline {
 public:
  /// The earliest that was set around this; nothing if there is none.
  [[nodiscard]] static std::optional<time::Instant> current() noexcept;
  /// How long until then: zero if it has passed, the greatest duration if there is none.
  [[nodiscard]] static time::Nanoseconds left() noexcept;
};

namespace internal {

ROUSE_API const TaskLocal<time::Instant>& deadlines() noexcept;

}  // namespace internal

/// A future that runs `future` with the deadline `at` set. Completes when `future` does, and throws
/// what it throws, whether the time is up or not.
/// Cancel safety: dropping it drops `future`.
/// Threads: may be polled on one thread after another.
template <class Duration, class F>
auto with_deadline(std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& future) {
  return internal::deadlines().scope(internal::saturate(at), std::forward<F>(future));
}

/// The same with a deadline so long after this call.
template <class Rep, class Period, class F>
auto with_deadline(std::chrono::duration<Rep, Period> time, F&& future) {
  return with_deadline(time::add(time::now(), internal::saturate(time)), std::forward<F>(future));
}

/// Completes when the future does, or at the first tick at or after its own timeout or the Deadline
/// that was set around its first poll, whichever is earlier. As with Timeout, the future is polled
/// first, and destroyed before the result is returned. But if the Deadline has passed before the
/// first poll, the future is not polled at all: nothing of it was done.
/// Cancel safety: dropping it drops the future midway.
/// Threads: any thread of a runtime.
/// Errors: TimedOut, whose code says which it was: errc::timed_out for its own timeout,
/// DeadlineError::passed for the Deadline. `result()` has the same codes, and those of the future;
/// what a future can only throw, like an Async, is thrown.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]]
TimeoutOrDeadline {
 public:
  using Output = output_t<F>;
  static constexpr bool polled_out_of_line = true;

  TimeoutOrDeadline(F&& future, time::Instant own, std::source_location where)
      : future_(std::in_place, std::move(future)), timer_(own), where_(where) {}

  Poll<Output> poll(Context& cx) {
    Poll<Output> polled = pending;
    poll_future(cx, polled, [&] { return internal::finish(future_, cx); });
    if (polled.is_pending() && !future_) throw_late();
    return polled;
  }
  Poll<Result<Output>> poll_result(Context& cx) {
    Poll<Result<Output>> polled = pending;
    poll_future(cx, polled, [&] { return internal::finish_as_result(future_, cx); });
    if (polled.is_pending() && !future_) return Poll<Result<Output>>::ready(late());
    return polled;
  }
  /// The same with an error code instead of TimedOut. Before the first poll.
  [[nodiscard]] ResultOf<TimeoutOrDeadline, Output> result() && {
    return ResultOf<TimeoutOrDeadline, Output>(std::move(*this));
  }
  [[nodiscard]] ResultOf<TimeoutOrDeadline, Output> result() & { return std::move(*this).result(); }
  [[nodiscard]] bool borrows() const noexcept {
    return future_ && internal::future_borrows(*future_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TimeoutOrDeadline, "timeout", any_of, &TimeoutOrDeadline::future_,
              &TimeoutOrDeadline::timer_)

 private:
  /// Pending without a future: the time is up.
  template <class Polled, class PollFn>
  void poll_future(Context& cx, Polled& polled, PollFn poll_fn) {
    ROUSE_ASSERT(future_.has_value(), "a timeout was polled again after it was ready");
    if (!std::exchange(has_begun_, true) && !begin()) return;
    const bool had_budget = cx.has_budget();  // as in Timeout
    polled = poll_fn();
    if (polled.is_pending() && timer_.poll(cx) &&
        (had_budget || std::exchange(is_put_off_, true))) {
      future_.reset();
    }
  }
  /// False: the Deadline has passed.
  bool begin() {
    const std::optional<time::Instant> deadline = Deadline::current();
    if (!deadline || *deadline >= timer_.deadline) return true;
    obeys_deadline_ = true;
    timer_.reset(*deadline);
    if (timer_.has_fired()) future_.reset();
    return future_.has_value();
  }
  [[nodiscard]] std::error_code late() const noexcept {
    if (obeys_deadline_) return make_error_code(DeadlineError::passed);
    return std::make_error_code(std::errc::timed_out);
  }
  [[noreturn]] void throw_late() const {
    if (obeys_deadline_) throw TimedOut(late(), where_);
    throw TimedOut(where_);
  }

  internal::Maybe<F> future_;
  internal::TimerEntry timer_;
  std::source_location where_;
  bool has_begun_ = false;
  bool obeys_deadline_ = false;
  bool is_put_off_ = false;
};

/// Limits `future` to `own`, counted from this call, and to the Deadline of the work that awaits
/// it. The greatest duration is no timeout: only the Deadline counts.
template <class Rep, class Period, class F>
auto timeout_or_deadline(std::chrono::duration<Rep, Period> own, F&& future,
                         std::source_location where = std::source_location::current()) {
  using Kept = std::remove_cvref_t<F>;
  constexpr bool is_future = Future<Kept>;
  static_assert(
      is_future,
      "timeout_or_deadline needs a duration and a future: did you pass a function instead "
      "of calling it? write timeout_or_deadline(1s, f())");
  constexpr bool can_keep = std::constructible_from<Kept, F>;
  static_assert(!is_future || can_keep,
                "timeout_or_deadline keeps its future by value and this one can't be copied: write "
                "timeout_or_deadline(1s, std::move(f))");
  if constexpr (is_future && can_keep) {
    return TimeoutOrDeadline<Kept>(Kept(std::forward<F>(future)),
                                   time::add(time::now(), internal::saturate(own)), where);
  }
}

}  // namespace rouse

template <>
struct std::is_error_code_enum<rouse::DeadlineError> : std::true_type {};
