#include "rouse/runtime/rate_limiter.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/pause.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "time/paused.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;

TEST(RateLimiter, BeginsFullThenGivesOneAnInterval) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(10, 1s, 3);
    const time::Instant start = time::now();
    std::vector<std::chrono::nanoseconds> at;
    for (int i = 0; i < 6; ++i) {
      co_await limiter.acquire();
      at.push_back(time::now() - start);
    }
    EXPECT_EQ(at, (std::vector<std::chrono::nanoseconds>{0s, 0s, 0s, 100ms, 200ms, 300ms}));
  });
}

TEST(RateLimiter, WhatIsNotUsedFillsTheBucketUpToTheBurst) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(10, 1s, 3);
    EXPECT_TRUE(limiter.try_acquire(3));
    EXPECT_FALSE(limiter.try_acquire());
    co_await sleep(200ms);
    EXPECT_TRUE(limiter.try_acquire(2));
    EXPECT_FALSE(limiter.try_acquire());
    co_await sleep(1h);
    EXPECT_TRUE(limiter.try_acquire(3));
    EXPECT_FALSE(limiter.try_acquire()) << "no more than a burst, however long nobody came";
  });
}

TEST(RateLimiter, ManyAtOnceWaitUntilAllAreThere) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(10, 1s, 5);
    const time::Instant start = time::now();
    co_await limiter.acquire(5);
    EXPECT_EQ(time::now(), start);
    co_await limiter.acquire(5);
    EXPECT_EQ(time::now() - start, 500ms);
    co_await limiter.acquire(2);
    EXPECT_EQ(time::now() - start, 700ms);
  });
}

TEST(RateLimiter, TheDefaultBurstIsThatOfAPeriod) {
  RateLimiter limiter(4, 1s);
  EXPECT_EQ(limiter.burst(), 4U);
}

TEST(RateLimiter, IsFairAlsoToThoseWhoWantMore) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(10, 1s, 4);
    EXPECT_TRUE(limiter.try_acquire(4));
    const time::Instant start = time::now();
    std::vector<int> order;
    auto take = [](RateLimiter& from, std::uint32_t n, int who,
                   std::vector<int>& list) -> Async<void> {
      co_await from.acquire(n);
      list.push_back(who);
    };
    auto large = spawn(take, std::ref(limiter), 4U, 1, std::ref(order));
    co_await yield_now();
    auto small = spawn(take, std::ref(limiter), 1U, 2, std::ref(order));
    co_await yield_now();
    co_await sleep(150ms);
    EXPECT_FALSE(limiter.try_acquire()) << "there is one, but others wait for it";
    co_await large;
    EXPECT_EQ(time::now() - start, 400ms);
    co_await small;
    EXPECT_EQ(time::now() - start, 500ms);
    EXPECT_EQ(order, (std::vector{1, 2}));
  });
}

TEST(RateLimiter, OneThatGivesUpTakesNothingAndLetsTheNextIn) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(10, 1s, 4);
    EXPECT_TRUE(limiter.try_acquire(4));
    const time::Instant start = time::now();
    const Result<void> given_up = co_await timeout(150ms, limiter.acquire(4)).result();
    EXPECT_FALSE(given_up);
    co_await limiter.acquire(2);
    EXPECT_EQ(time::now() - start, 200ms) << "as if the other had never come";
  });
}

TEST(RateLimiter, TheRateHoldsWithAnIntervalThatIsNoWholeNumber) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(3, 1s, 1);
    EXPECT_TRUE(limiter.try_acquire());
    const time::Instant start = time::now();
    for (int i = 0; i < 30; ++i) co_await limiter.acquire();
    EXPECT_GE(time::now() - start, 10s);
    EXPECT_LE(time::now() - start, 10s + 31ms) << "a tick of the timers is a millisecond";
  });
}

TEST(RateLimiter, MoreThanAThousandASecondComeInBatches) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(50'000, 1s, 100);
    EXPECT_TRUE(limiter.try_acquire(100));
    const time::Instant start = time::now();
    for (int i = 0; i < 5000; ++i) co_await limiter.acquire();
    EXPECT_GE(time::now() - start, 100ms);
    EXPECT_LE(time::now() - start, 102ms);
  });
}

TEST(RateLimiter, IsCleanWhereverItIsDropped) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(1, 1h, 1);
    EXPECT_TRUE(limiter.try_acquire());
    {
      rouse::testing::PollHarness first(limiter.acquire());
      EXPECT_TRUE(first.poll().is_pending());
      rouse::testing::PollHarness second(limiter.acquire());
      EXPECT_TRUE(second.poll().is_pending());
      EXPECT_FALSE(limiter.try_acquire());
    }
    {
      std::optional<rouse::testing::PollHarness<RateLimiter::Acquire>> first(std::in_place,
                                                                             limiter.acquire());
      EXPECT_TRUE(first->poll().is_pending());
      rouse::testing::PollHarness second(limiter.acquire());
      EXPECT_TRUE(second.poll().is_pending());
      first.reset();
      EXPECT_TRUE(second.is_woken()) << "it is the first in line now";
    }
    co_await time::advance(1h);
    EXPECT_TRUE(limiter.try_acquire());
  });
}

// Several threads: never more than the burst and what came since.
TEST(RateLimiterStress, NoThreadGetsMoreThanThereIs) {
  Runtime runtime = Runtime::builder().worker_threads(3).build();
  RateLimiter limiter(2000, 1s, 20);
  std::atomic<int> taken{0};
  auto take = [](RateLimiter& from, std::atomic<int>& count) -> Async<void> {
    for (int i = 0; i < 20; ++i) {
      if (!from.try_acquire()) co_await from.acquire();
      ++count;
    }
  };
  auto run = [&]() -> Async<void> {
    const time::Instant start = time::now();
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(spawn(take, std::ref(limiter), std::ref(taken)));
    for (auto& task : tasks) co_await task;
    EXPECT_GE(time::now() - start, 70ms) << "160, less the burst of 20, at 2 a millisecond";
  };
  runtime.block_on(run());
  EXPECT_EQ(taken, 160);
}

TEST(RateLimiterDeathTest, MoreThanTheBurstIsAMistake) {
  RateLimiter limiter(1, 1s, 2);
  EXPECT_DEATH((void)limiter.acquire(3), "more tokens than the burst");
  EXPECT_DEATH((void)limiter.try_acquire(3), "more tokens than the burst");
  EXPECT_DEATH(RateLimiter(0, 1s), "more than 0");
}

TEST(RateLimiter, WhileTokensAreThereThreadsThatTryAllGetOne) {
  RateLimiter limiter(1, 1h, 100'000);
  std::atomic<int> refused{0};
  const auto takes = [&] {
    for (int i = 0; i < 20'000; ++i) {
      if (!limiter.try_acquire()) ++refused;
    }
  };
  std::thread other(takes);
  takes();
  other.join();
  EXPECT_EQ(refused.load(), 0);
}

TEST(RateLimiterDeathTest, AnAcquireIsNotPolledAfterItWasReadyOrMovedFrom) {
  test::run_paused([]() -> Async<void> {
    RateLimiter limiter(1, 1h, 10);
    auto done = limiter.acquire();
    co_await done;
    rouse::testing::CountingWaker counts;
    Context cx(counts.waker());
    EXPECT_DEATH(static_cast<void>(done.poll(cx)), "polled after it was ready");
    auto fresh = limiter.acquire();
    auto other = std::move(fresh);
    // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
    EXPECT_DEATH(static_cast<void>(fresh.poll(cx)), "moved from");
    co_await other;
  });
}

}  // namespace
