// retry: tries again what failed, later and later.
//
//   auto fetch_page = [&] { return fetch(url); };  // makes a future for each attempt
//   auto page = co_await retry(fetch_page, RetryPolicy().max_attempts(5).max_elapsed(30s));
//
// An attempt fails if its future gives a Result with an error, or throws a std::system_error;
// another exception ends the retries. Between attempts it waits for a random time (full jitter: so
// that those who failed together do not come back together) of at most `initial_delay`, then twice
// that, and so on up to `max_delay`. What the last attempt gave or threw is what the whole gives or
// throws.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/live.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse {

/// When to try again, and how often. A value; each setting has a default.
class ROUSE_API RetryPolicy {
 public:
  RetryPolicy() noexcept = default;

  /// The longest wait after the first failure. Default: 100 ms.
  RetryPolicy& initial_delay(std::chrono::nanoseconds delay) noexcept;
  /// How much longer the next wait may be, at least 1. Default: 2.
  RetryPolicy& factor(double by) noexcept;
  /// The longest wait of all. Default: 30 s.
  RetryPolicy& max_delay(std::chrono::nanoseconds delay) noexcept;
  /// Whether a wait is random, between nothing and the longest. Default: true.
  RetryPolicy& jitter(bool full) noexcept;
  /// How many attempts there are, at least 1. Default: 5.
  RetryPolicy& max_attempts(std::uint32_t count) noexcept;
  /// No attempt begins later than this after the first one. Default: no limit. (It ends no attempt
  /// that is running: give each a timeout.)
  RetryPolicy& max_elapsed(std::chrono::nanoseconds time) noexcept;
  /// Which errors are worth another attempt. Default: all.
  RetryPolicy& retry_if(Function<bool(const std::error_code&)> is_worth_it) noexcept;
  /// The random waits are those of this number: for tests.
  RetryPolicy& seed(std::uint64_t number) noexcept;

  /// The longest wait after so many failures.
  [[nodiscard]] std::chrono::nanoseconds longest_delay(std::uint32_t failures) const noexcept;

 private:
  friend class RetryState;

  std::chrono::nanoseconds initial_delay_ = std::chrono::milliseconds(100);
  std::chrono::nanoseconds max_delay_ = std::chrono::seconds(30);
  std::chrono::nanoseconds max_elapsed_ = std::chrono::nanoseconds::max();
  double factor_ = 2;
  std::optional<std::uint64_t> seed_;
  std::uint32_t max_attempts_ = 5;
  bool jitter_ = true;
  Function<bool(const std::error_code&)> retry_if_;
};

/// What a Retry knows of its past.
class ROUSE_API RetryState {
 public:
  explicit RetryState(RetryPolicy policy) noexcept;

  /// Before each attempt.
  void begin() noexcept;
  /// After one that failed: when to try again, or nothing if that was the last.
  std::optional<time::Instant> next(const std::error_code& error);
  /// How many have failed.
  [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }

 private:
  RetryPolicy policy_;
  time::Instant began_;
  std::uint32_t failures_ = 0;
  std::uint64_t random_;
};

/// Completes when an attempt succeeds or the last one failed, with what that one gives.
/// Cancel safety: dropping it drops the attempt midway.
/// Threads: any thread of a runtime.
/// Errors: those of the last attempt, of which `make` is a part; what retry_if throws.
template <class Make>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Retry {
  using Attempt = std::invoke_result_t<Make&>;

 public:
  using Output = output_t<Attempt>;

  Retry(Make make, RetryPolicy policy) : make_(std::move(make)), state_(std::move(policy)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(live_, "a retry(...) was polled after it was ready or moved from");
    Poll<Output> polled = poll_attempts(cx);
    if (polled.is_ready()) live_.end();
    return polled;
  }
  [[nodiscard]] bool borrows() const noexcept {
    return internal::is_borrow<Make> || (attempt_ && internal::future_borrows(*attempt_));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Retry, "retry", one, &Retry::waits_, &Retry::attempt_)

 private:
  Poll<Output> poll_attempts(Context& cx) {
    for (;;) {
      if (waits_ && (*waits_).poll(cx).is_pending()) return pending;
      waits_.reset();
      std::error_code thrown;
      std::exception_ptr exception;
      try {
        if (!attempt_) {
          state_.begin();
          attempt_.emplace(make_());
        }
        Poll<Output> polled = (*attempt_).poll(cx);
        if (polled.is_pending()) return pending;
        attempt_.reset();
        if constexpr (internal::is_result<Output>) {
          if (polled.value()) return polled;
          thrown = polled.value().error();
        } else {
          return polled;
        }
      } catch (const std::system_error& error) {
        attempt_.reset();
        thrown = error.code();
        exception = std::current_exception();
      }
      if (waits_until(state_.next(thrown))) continue;  // outside: retry_if may throw, too
      live_.end();
      if (exception) std::rethrow_exception(exception);
      if constexpr (internal::is_result<Output>) return Poll<Output>::ready(Output(thrown));
    }
  }

  bool waits_until(std::optional<time::Instant> time) {
    if (time) waits_.emplace(*time);
    return time.has_value();
  }

  Make make_;
  RetryState state_;
  internal::Live live_;
  internal::Maybe<Sleep> waits_;
  internal::Maybe<Attempt> attempt_;
};

/// Awaits what `make()` returns, a future, again and again until one succeeds or `policy` says that
/// it is enough. `make` belongs to the future.
template <class Make>
[[nodiscard]] auto retry(Make&& make, RetryPolicy policy = {}) {
  using Kept = std::decay_t<Make>;
  constexpr bool gives_future = requires(Kept& fn) { requires Future<decltype(fn())>; };
  static_assert(gives_future,
                "retry needs a function that makes a new future for each attempt: write "
                "retry([&] { return fetch(url); }), not retry(fetch(url))");
  if constexpr (gives_future) return Retry<Kept>(std::forward<Make>(make), std::move(policy));
}

}  // namespace rouse
