#include "rouse/time/interval.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/core/async.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/select.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "time/paused.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using test::run_paused;
using ::testing::ElementsAre;
using time::Instant;

/// When the ticks are taken, in milliseconds from `begin`; between the first and the second
/// `busy_for` passes.
Async<std::vector<std::int64_t>> ticks_taken(Interval& every, Instant begin,
                                             std::chrono::milliseconds busy_for, int count) {
  std::vector<std::int64_t> taken;
  for (int i = 0; i < count; ++i) {
    co_await every.tick();
    taken.push_back((time::now() - begin) / 1ms);
    if (i == 0) co_await sleep(busy_for);
  }
  co_return taken;
}

TEST(Interval, TicksAtOnceAndThenEachPeriod) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval(10ms);
    EXPECT_THAT(co_await ticks_taken(every, begin, 0ms, 4), ElementsAre(0, 10, 20, 30));
    EXPECT_EQ(every.period(), 10ms);
  });
}

TEST(Interval, BeginsWhenItIsTold) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval_at(begin + 5ms, 10ms);
    EXPECT_EQ(co_await every.tick(), begin + 5ms);
    EXPECT_EQ(co_await every.tick(), begin + 15ms);
  });
}

TEST(Interval, DoesNotDrift) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval(10ms);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(co_await every.tick(), begin + i * 10ms);
      co_await sleep(7ms);
    }
  });
}

TEST(Interval, MissedTicksBurstOrDelayOrAreSkipped) {
  run_paused([]() -> Async<void> {
    Instant begin = time::now();
    Interval bursting = interval(10ms);
    EXPECT_EQ(bursting.missed_tick(), MissedTick::burst);
    EXPECT_THAT(co_await ticks_taken(bursting, begin, 35ms, 6), ElementsAre(0, 35, 35, 35, 40, 50));

    begin = time::now();
    Interval delaying = interval(10ms);
    delaying.set_missed_tick(MissedTick::delay);
    EXPECT_THAT(co_await ticks_taken(delaying, begin, 35ms, 4), ElementsAre(0, 35, 45, 55));

    begin = time::now();
    Interval skipping = interval(10ms);
    skipping.set_missed_tick(MissedTick::skip);
    EXPECT_THAT(co_await ticks_taken(skipping, begin, 35ms, 4), ElementsAre(0, 35, 40, 50));
  });
}

TEST(Interval, ATickThatIsALittleLateIsNotMissed) {
  run_paused([]() -> Async<void> {
    for (const MissedTick missed : {MissedTick::burst, MissedTick::delay, MissedTick::skip}) {
      const Instant begin = time::now();
      Interval every = interval(10ms);
      every.set_missed_tick(missed);
      EXPECT_THAT(co_await ticks_taken(every, begin, 19ms, 3), ElementsAre(0, 19, 20));
    }
  });
}

TEST(Interval, ATickTakenJustWhenTheNextIsDueHasMissedIt) {
  run_paused([]() -> Async<void> {
    Instant begin = time::now();
    Interval bursting = interval(10ms);
    EXPECT_THAT(co_await ticks_taken(bursting, begin, 20ms, 4), ElementsAre(0, 20, 20, 30));
    for (const MissedTick missed : {MissedTick::delay, MissedTick::skip}) {
      begin = time::now();
      Interval every = interval(10ms);
      every.set_missed_tick(missed);
      EXPECT_THAT(co_await ticks_taken(every, begin, 20ms, 4), ElementsAre(0, 20, 30, 40));
    }
  });
}

TEST(Interval, IsAStreamThatDoesNotEnd) {
  run_paused([]() -> Async<void> {
    class Next {
     public:
      using Output = std::optional<Instant>;
      explicit Next(Interval& from) noexcept : from_(from) {}
      Poll<Output> poll(Context& cx) { return from_.poll_next(cx); }

     private:
      Interval& from_;
    };
    const Instant begin = time::now();
    Interval every = interval(1h);
    EXPECT_EQ(co_await Next(every), begin);
    EXPECT_EQ(co_await Next(every), begin + 1h);
  });
}

TEST(Interval, CanBeReset) {
  run_paused([]() -> Async<void> {
    Interval every = interval(10ms);
    co_await every.tick();
    co_await sleep(5ms);
    const Instant begin = time::now();
    every.reset();
    EXPECT_EQ(co_await every.tick(), begin + 10ms);
    every.reset_at(begin + 13ms);
    EXPECT_EQ(co_await every.tick(), begin + 13ms);
    EXPECT_EQ(co_await every.tick(), begin + 23ms);
  });
}

TEST(Interval, IsResetToNowOrToALaterTimeAlsoWhileATickIsPending) {
  run_paused([]() -> Async<void> {
    Interval every = interval(10ms);
    co_await every.tick();
    const Instant begin = time::now();
    every.reset_after(25ms);
    EXPECT_EQ(co_await every.tick(), begin + 25ms);
    EXPECT_EQ(co_await every.tick(), begin + 35ms);
    every.reset_immediately();
    EXPECT_EQ(co_await every.tick(), begin + 35ms);
    EXPECT_EQ(time::now(), begin + 35ms);

    const auto waits = [](Interval& from) -> Async<Instant> { co_return co_await from.tick(); };
    const auto resets = [](Interval& what) -> Async<void> {
      co_await sleep(2ms);
      what.reset_immediately();
    };
    const auto [due, unit] = co_await join(waits(every), resets(every));
    EXPECT_EQ(due, begin + 37ms);
    every.reset_after(std::chrono::hours::max());
    EXPECT_THROW(co_await timeout(1h, every.tick()), TimedOut);
  });
}

TEST(Interval, IsMovedAfterATickWasDroppedAndLosesNone) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval(10ms);
    every.set_missed_tick(MissedTick::skip);
    co_await every.tick();
    EXPECT_THROW(co_await timeout(3ms, every.tick()), TimedOut);
    Interval moved = std::move(every);
    EXPECT_EQ(moved.period(), 10ms);
    EXPECT_EQ(moved.missed_tick(), MissedTick::skip);
    EXPECT_EQ(co_await moved.tick(), begin + 10ms);
    EXPECT_THROW(co_await timeout(3ms, moved.tick()), TimedOut);
    co_await sleep(10ms);  // its timer fires meanwhile
    Interval late = std::move(moved);
    EXPECT_EQ(co_await late.tick(), begin + 20ms);
    EXPECT_EQ(co_await late.tick(), begin + 30ms);
  });
}

TEST(Interval, IsReplacedByAnother) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval(10ms);
    co_await every.tick();
    EXPECT_THROW(co_await timeout(3ms, every.tick()), TimedOut);
    every = interval_at(begin + 5ms, 1ms);
    EXPECT_EQ(co_await every.tick(), begin + 5ms);
    EXPECT_EQ(co_await every.tick(), begin + 6ms);
  });
}

TEST(Interval, LeavesNoWakerBehindWhenItIsMoved) {
  Runtime runtime = test::paused_runtime(true);
  const auto here = runtime.enter();
  const testing::CountingWaker waker;
  Interval every = interval_at(time::now() + 10ms, 10ms);
  {
    Context cx(waker.waker());
    EXPECT_TRUE(every.tick().poll(cx).is_pending());
  }
  EXPECT_EQ(waker.clones(), 1U);
  const Interval moved = std::move(every);
  EXPECT_EQ(waker.clones(), 0U);
}

TEST(Interval, LeavesNoWakerBehindWhenItIsAssigned) {
  Runtime runtime = test::paused_runtime(true);
  const auto here = runtime.enter();
  const testing::CountingWaker waker;
  Interval every = interval_at(time::now() + 10ms, 10ms);
  Interval other = interval_at(time::now() + 10ms, 10ms);
  {
    Context cx(waker.waker());
    EXPECT_TRUE(every.tick().poll(cx).is_pending());
  }
  other = std::move(every);
  EXPECT_EQ(waker.clones(), 0U);
}

TEST(Interval, ATickThatIsDroppedMidwayIsNotLost) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    Interval every = interval(10ms);
    co_await every.tick();
    EXPECT_THROW(co_await timeout(3ms, every.tick()), TimedOut);
    EXPECT_EQ(co_await every.tick(), begin + 10ms);
  });
}

TEST(Interval, ATickDroppedAfterEachPollIsNotLost) {
  Runtime runtime = test::paused_runtime(true);  // its clock goes on inside block_on only
  const auto here = runtime.enter();
  std::optional<Interval> every;
  Instant due;
  const auto report = testing::drop_at_each_poll(
      [&] {
        due = time::now() + 10ms;
        return every.emplace(due, 10ms).tick();
      },
      [&](std::size_t i) { runtime.block_on(time::advance(i == 1 ? 5ms : 6ms)); },
      [&](std::size_t k) {
        EXPECT_EQ(runtime.block_on(every->tick()), k < 3 ? due : due + 10ms) << k;
      });
  EXPECT_EQ(report.polls, 3U);
  // The timer is the interval's: it keeps the latest waker until the tick is due.
  EXPECT_LE(report.wakers_left, 1U);
}

TEST(Interval, WithExtremeTimes) {
  run_paused([]() -> Async<void> {
    Interval rare = interval(std::chrono::hours::max());
    co_await rare.tick();
    EXPECT_THROW(co_await timeout(1h, rare.tick()), TimedOut);

    Interval old = interval_at(Instant::min(), 10ms);
    old.set_missed_tick(MissedTick::skip);
    EXPECT_EQ(co_await old.tick(), Instant::min());
    const Instant second = co_await old.tick();
    EXPECT_LE(time::now() - second, 1ms);

    Interval many = interval_at(Instant::min(), 1ns);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(co_await many.tick(), Instant::min() + i * 1ns);

    Interval never = interval_at(Instant::max(), 1ns);
    EXPECT_THROW(co_await timeout(1h, never.tick()), TimedOut);
  });
}

TEST(IntervalDeath, APeriodOfNothingIsRefused) {
  EXPECT_DEATH((void)interval(0s), "period greater than zero");
  EXPECT_DEATH((void)interval(-1s), "period greater than zero");
}

}  // namespace
}  // namespace rouse
