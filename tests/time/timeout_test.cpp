#include "rouse/time/timeout.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/sleep.hpp"

#include "time/paused.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using test::run_paused;

Async<std::string> says(std::chrono::nanoseconds after, std::string what) {
  co_await sleep(after);
  co_return what;
}

TEST(Timeout, GivesTheValueThatComesInTime) {
  run_paused([]() -> Async<void> {
    EXPECT_EQ(co_await timeout(2s, says(1s, "hello")), "hello");
    const Result<std::string> result = co_await timeout(2s, says(1s, "hello")).result();
    EXPECT_EQ(result.value(), "hello");
    co_await timeout(1s, sleep(1ms));
    EXPECT_TRUE((co_await timeout(1s, sleep(1ms)).result()).has_value());
  });
}

AsyncResult<int> fails() {
  co_await yield_now();
  co_return std::errc::connection_reset;
}

TEST(Timeout, AnOperationsOwnErrorIsItsErrorAndNotThatTimeIsUp) {
  run_paused([]() -> Async<void> {
    const Result<int> result = co_await timeout(1s, fails()).result();
    EXPECT_EQ(result.error(), std::errc::connection_reset);
    std::error_code thrown;
    try {
      (void)co_await timeout(1s, fails());
    } catch (const TimedOut&) {
      ADD_FAILURE() << "there was time left";
    } catch (const std::system_error& error) {
      thrown = error.code();
    }
    EXPECT_EQ(thrown, std::errc::connection_reset);
    EXPECT_THROW((void)co_await timeout(2s, timeout(1s, pending_forever<int>())), TimedOut);
  });
}

TEST(Timeout, ThrowsTimedOutAtTheDeadline) {
  run_paused([]() -> Async<void> {
    const auto begin = time::now();
    try {
      co_await timeout(2s, says(1h, "too late"));
      ADD_FAILURE();
    } catch (const TimedOut& error) {
      EXPECT_EQ(error.code(), std::errc::timed_out);
    }
    EXPECT_EQ(time::now(), begin + 2s);
    const Result<std::string> result =
        co_await timeout_at(time::now() + 2s, says(1h, "too late")).result();
    EXPECT_EQ(result.error(), std::errc::timed_out);
    EXPECT_EQ(time::now(), begin + 4s);
  });
}

TEST(Timeout, LetsExceptionsThrough) {
  run_paused([]() -> Async<void> {
    const auto fails = []() -> Async<int> {
      co_await sleep(1s);
      throw std::runtime_error("failed");
    };
    EXPECT_THROW(co_await timeout(2s, fails()), std::runtime_error);
    EXPECT_THROW((void)co_await timeout(2s, fails()).result(), std::runtime_error);
  });
}

TEST(Timeout, TheFutureIsPolledFirstAndAtLeastOnce) {
  run_paused([]() -> Async<void> {
    EXPECT_EQ(co_await timeout(0s, ready(7)), 7);
    EXPECT_EQ(co_await timeout(-1h, ready(7)), 7);
    EXPECT_EQ(co_await timeout_at(time::Instant::min(), ready(7)), 7);
    EXPECT_THROW(co_await timeout(0s, pending_forever()), TimedOut);
    EXPECT_EQ(co_await timeout(1s, says(1s, "both at once")), "both at once");
  });
}

TEST(Timeout, OfTheGreatestDurationDoesNotEndAnything) {
  run_paused([]() -> Async<void> {
    EXPECT_EQ(co_await timeout(std::chrono::hours::max(), says(1h, "a")), "a");
    EXPECT_EQ(co_await timeout(std::chrono::nanoseconds::max(), says(1h, "b")), "b");
    EXPECT_EQ(co_await timeout_at(time::Instant::max(), says(1h, "c")), "c");
  });
}

TEST(Timeout, DestroysTheFutureBeforeItsResultIsHandedOut) {
  run_paused([]() -> Async<void> {
    auto alive = std::make_shared<int>(1);
    const std::weak_ptr<int> seen = alive;
    const auto holds = [](std::shared_ptr<int> held, bool ends) -> Async<void> {
      if (!ends) co_await pending_forever();
      (void)held;
    };
    auto first = timeout(1s, holds(std::move(alive), false));
    EXPECT_FALSE((co_await first.result()).has_value());
    EXPECT_TRUE(seen.expired());
  });
}

TEST(Timeout, EndsAFutureThatIsAlwaysBusy) {
  Runtime runtime = Runtime::builder().current_thread().build();
  auto main = []() -> Async<void> {
    const auto busy = []() -> Async<void> {
      for (;;) co_await sleep(0s);  // uses up the budget of each poll
    };
    EXPECT_THROW(co_await timeout(2ms, busy()), TimedOut);
  };
  runtime.block_on(main());
}

TEST(Timeout, LeavesNothingBehindWhereverItIsDropped) {
  run_paused([]() -> Async<void> {
    const auto report =
        testing::drop_at_each_poll([] { return timeout(1h, yield_now()); }, [](std::size_t) {});
    EXPECT_EQ(report.wakers_left, 0U);
    EXPECT_EQ(report.polls, 2U);
    co_return;
  });
}

TEST(Timeout, OfNothingGivesWhatIsReadyAlsoWhenTheBudgetIsUsedUp) {
  run_paused([]() -> Async<void> {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE((co_await timeout(0s, sleep(0s)).result()).has_value()) << i;
    }
  });
}

TEST(Timeout, EndsAFutureThatIsAlwaysReadyUnderBlockOn) {
  Runtime runtime = Runtime::builder().worker_threads(1).build();
  const auto here = runtime.enter();
  const auto busy = []() -> Async<void> {
    for (;;) co_await sleep(0s);
  };
  EXPECT_THROW(block_on(timeout(2ms, busy())), TimedOut);
}

}  // namespace
}  // namespace rouse
