#include "rouse/time/retry.hpp"

#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timeout.hpp"

#include "time/paused.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Fails `failures` times, and notes when it was tried.
struct Flaky {
  explicit Flaky(int times) : failures(times) {}
  Async<int> throwing() {
    tried.push_back(time::now());
    co_await yield_now();
    if (failures-- > 0) throw std::system_error(std::make_error_code(std::errc::timed_out));
    co_return 7;
  }
  Async<Result<int>> giving() {
    tried.push_back(time::now());
    co_await yield_now();
    if (failures-- > 0) co_return std::errc::connection_refused;
    co_return 7;
  }
  std::vector<nanoseconds> waits() const {
    std::vector<nanoseconds> all;
    for (std::size_t i = 1; i < tried.size(); ++i) all.push_back(tried[i] - tried[i - 1]);
    return all;
  }
  int failures;
  std::vector<time::Instant> tried;
};

RetryPolicy exact() { return RetryPolicy().initial_delay(100ms).jitter(false); }

TEST(Retry, GivesWhatTheFirstSuccessGives) {
  test::run_paused([]() -> Async<void> {
    Flaky flaky(0);
    const auto attempt = [&] { return flaky.throwing(); };
    EXPECT_EQ(co_await retry(attempt), 7);
    EXPECT_EQ(flaky.tried.size(), 1U);
  });
}

TEST(Retry, WaitsTwiceAsLongEachTimeUpToTheCap) {
  test::run_paused([]() -> Async<void> {
    Flaky flaky(5);
    const auto attempt = [&] { return flaky.throwing(); };
    EXPECT_EQ(co_await retry(attempt, exact().max_attempts(6).max_delay(500ms)), 7);
    EXPECT_EQ(flaky.waits(), (std::vector<nanoseconds>{100ms, 200ms, 400ms, 500ms, 500ms}));
  });
}

TEST(Retry, AResultWithAnErrorIsAFailure) {
  test::run_paused([]() -> Async<void> {
    Flaky flaky(2);
    const auto attempt = [&] { return flaky.giving(); };
    const Result<int> result = co_await retry(attempt, exact().factor(3));
    EXPECT_EQ(*result, 7);
    EXPECT_EQ(flaky.waits(), (std::vector<nanoseconds>{100ms, 300ms}));
  });
}

TEST(Retry, GivesTheLastErrorWhenTheAttemptsAreUsedUp) {
  test::run_paused([]() -> Async<void> {
    Flaky gives(9);
    const auto attempt = [&] { return gives.giving(); };
    const Result<int> result = co_await retry(attempt, exact().max_attempts(3));
    EXPECT_EQ(result.error(), std::errc::connection_refused);
    EXPECT_EQ(gives.tried.size(), 3U);
    const time::Instant end = time::now();
    EXPECT_EQ(end, gives.tried.back()) << "and does not wait in vain";

    Flaky throws(9);
    const auto other = [&] { return throws.throwing(); };
    bool caught = false;
    try {
      co_await retry(other, exact().max_attempts(2));
    } catch (const std::system_error& error) {
      caught = error.code() == std::errc::timed_out;
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(throws.tried.size(), 2U);
  });
}

TEST(Retry, NoAttemptBeginsAfterTheTimeIsUp) {
  test::run_paused([]() -> Async<void> {
    Flaky flaky(9);
    const auto attempt = [&] { return flaky.giving(); };
    const time::Instant start = time::now();
    const auto policy = exact().max_attempts(10).max_elapsed(300ms);
    const Result<int> result = co_await retry(attempt, policy);
    EXPECT_FALSE(result);
    EXPECT_EQ(flaky.waits(), (std::vector<nanoseconds>{100ms, 200ms}));
    EXPECT_EQ(time::now() - start, 300ms) << "the next would have begun at 700 ms";
  });
}

TEST(Retry, OnlyErrorsThatAreWorthItAreRetried) {
  test::run_paused([]() -> Async<void> {
    Flaky flaky(9);
    const auto attempt = [&] { return flaky.giving(); };
    const auto on_timeouts = [](const std::error_code& error) {
      return error == std::errc::timed_out;
    };
    const Result<int> result = co_await retry(attempt, exact().retry_if(on_timeouts));
    EXPECT_EQ(result.error(), std::errc::connection_refused);
    EXPECT_EQ(flaky.tried.size(), 1U);
  });
}

TEST(Retry, AnotherExceptionEndsIt) {
  test::run_paused([]() -> Async<void> {
    int tried = 0;
    const auto attempt = [&]() -> Async<int> {
      ++tried;
      co_await yield_now();
      throw std::logic_error("a bug");
    };
    bool caught = false;
    try {
      co_await retry(attempt, exact());
    } catch (const std::logic_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(tried, 1);
  });
}

TEST(Retry, AnAttemptThatCouldNotBeMadeHasFailed) {
  test::run_paused([]() -> Async<void> {
    int tried = 0;
    const auto attempt = [&] {
      if (++tried < 3) throw std::system_error(std::make_error_code(std::errc::address_in_use));
      return ready(7);
    };
    EXPECT_EQ(co_await retry(attempt, exact()), 7);
    EXPECT_EQ(tried, 3);
  });
}

TEST(Retry, EachAttemptMayHaveATimeout) {
  test::run_paused([]() -> Async<void> {
    const auto attempt = [] { return timeout(1s, pending_forever<int>()).result(); };
    const time::Instant start = time::now();
    const Result<int> result = co_await retry(attempt, exact().max_attempts(3));
    EXPECT_EQ(result.error(), std::errc::timed_out);
    EXPECT_EQ(time::now() - start, 3s + 300ms);
  });
}

TEST(Retry, FullJitterWaitsAtMostTheLongestAndEachSeedWaitsOtherwise) {
  test::run_paused([]() -> Async<void> {
    const auto waits_of = [](std::uint64_t seed) -> Async<std::vector<nanoseconds>> {
      Flaky flaky(20);
      const auto attempt = [&] { return flaky.giving(); };
      const auto policy =
          RetryPolicy().initial_delay(100ms).max_delay(400ms).max_attempts(20).seed(seed);
      const Result<int> result = co_await retry(attempt, policy);
      EXPECT_FALSE(result);
      const auto waits = flaky.waits();
      nanoseconds sum{0};
      for (std::size_t i = 0; i < waits.size(); ++i) {
        // A tick of the timers is a millisecond.
        EXPECT_LE(waits[i], policy.longest_delay(static_cast<std::uint32_t>(i) + 1) + 1ms);
        sum += waits[i];
      }
      EXPECT_GT(sum, 1s) << "not all are short";
      EXPECT_LT(sum, 6s) << "not all are long";
      co_return waits;
    };
    const auto one = co_await waits_of(1);
    const auto again = co_await waits_of(1);
    const auto two = co_await waits_of(2);
    const auto zero = co_await waits_of(0);
    const auto zero_again = co_await waits_of(0);
    EXPECT_EQ(one, again);
    EXPECT_NE(one, two);
    EXPECT_EQ(zero, zero_again);
  });
}

TEST(Retry, TwoWithoutASeedDoNotWaitAlike) {
  const std::error_code error = std::make_error_code(std::errc::timed_out);
  RetryState first(RetryPolicy().initial_delay(1h).max_delay(1h));
  RetryState second(RetryPolicy().initial_delay(1h).max_delay(1h));
  first.begin();
  second.begin();
  EXPECT_NE(*first.next(error), *second.next(error));
  EXPECT_EQ(first.failures(), 1U);
}

TEST(RetryPolicy, TheLongestDelayNeverOverflows) {
  const auto policy = RetryPolicy().initial_delay(1s).factor(1000).max_delay(nanoseconds::max());
  EXPECT_EQ(policy.longest_delay(1), 1s);
  EXPECT_EQ(policy.longest_delay(2), 1000s);
  EXPECT_EQ(policy.longest_delay(4'000'000'000U), nanoseconds::max());
  EXPECT_EQ(RetryPolicy().factor(1).longest_delay(4'000'000'000U), 100ms);
  EXPECT_EQ(RetryPolicy().initial_delay(0s).longest_delay(4'000'000'000U), 0s);
  EXPECT_EQ(RetryPolicy().initial_delay(1s).factor(1.5).longest_delay(3), 2250ms);
}

TEST(Retry, IsCleanWhereverItIsDropped) {
  test::run_paused([]() -> Async<void> {
    int alive = 0;
    const auto report = rouse::testing::drop_at_each_poll(
        [&] {
          const auto attempt = [&alive]() -> Async<int> {
            const struct Counted {
              explicit Counted(int& n) : count(n) { ++count; }
              ~Counted() { --count; }
              int& count;
            } counted(alive);
            co_await yield_now();
            throw std::system_error(std::make_error_code(std::errc::timed_out));
          };
          return retry([attempt] { return attempt(); }, exact().initial_delay(0s).max_attempts(3));
        },
        [](std::size_t) {}, [&](std::size_t) { EXPECT_EQ(alive, 0); });
    EXPECT_EQ(report.polls, 4U);
    EXPECT_EQ(report.wakers_left, 0U);
    co_return;
  });
}

TEST(RetryPolicyDeathTest, SettingsThatMakeNoSense) {
  EXPECT_DEATH(RetryPolicy().max_attempts(0), "allow at least 1");
  EXPECT_DEATH(RetryPolicy().factor(0.5), "at least 1");
  EXPECT_DEATH(RetryPolicy().initial_delay(-1s), "can't be negative");
}

TEST(RetryDeathTest, IsNotPolledAfterItWasReadyOrMovedFrom) {
  test::run_paused([]() -> Async<void> {
    auto once = [] { return ready(1); };
    auto done = retry(once);
    EXPECT_EQ(co_await done, 1);
    rouse::testing::CountingWaker counts;
    Context cx(counts.waker());
    EXPECT_DEATH(static_cast<void>(done.poll(cx)), "polled after it was ready");
    auto fresh = retry(once);
    auto other = std::move(fresh);
    // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
    EXPECT_DEATH(static_cast<void>(fresh.poll(cx)), "moved from");
    EXPECT_EQ(co_await other, 1);
  });
}

}  // namespace
