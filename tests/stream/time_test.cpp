// Streams that look at the clock: throttle, chunks_timeout, timeout. On a paused clock.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/future/race.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/chunks_timeout.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/next.hpp"
#include "rouse/stream/take.hpp"
#include "rouse/stream/throttle.hpp"
#include "rouse/stream/timeout.hpp"
#include "rouse/time/interval.hpp"
#include "rouse/time/sleep.hpp"

#include "stream/support.hpp"
#include "time/paused.hpp"

namespace rouse::test {
namespace {

using namespace std::chrono_literals;
using Ints = std::vector<int>;

/// Gives the numbers of the times, in milliseconds from now, at those times.
AsyncStream<int> at(Ints times) {
  const time::Instant begin = time::now();
  for (const int when : times) {
    co_await sleep_until(begin + when * 1ms);
    co_yield when;
  }
}

/// When the items come, in milliseconds from the beginning.
template <class S>
Async<Ints> arrivals(S stream) {
  const time::Instant begin = time::now();
  Ints times;
  while (const auto item = co_await stream::next(stream)) {
    times.push_back(static_cast<int>((time::now() - begin) / 1ms));
  }
  co_return times;
}

TEST(StreamThrottle, GivesNoTwoItemsWithinTheTime) {
  run_paused([]() -> Async<> {
    const Ints times = co_await arrivals(stream::throttle(stream::iter(Ints(4)), 10ms));
    EXPECT_EQ(times, (Ints{0, 10, 20, 30}));
  });
}

TEST(StreamThrottle, DoesNotHoldUpWhatComesSeldom) {
  run_paused([]() -> Async<> {
    Ints sources{5, 30, 32, 60};
    const Ints times = co_await arrivals(stream::throttle(at(sources), 10ms));
    EXPECT_EQ(times, (Ints{5, 30, 40, 60}));
  });
}

TEST(StreamThrottle, EndsWithItsStreamAndTakesAnyDuration) {
  run_paused([]() -> Async<> {
    const Ints none = co_await stream::collect(stream::throttle(stream::iter(Ints()), 1h));
    EXPECT_TRUE(none.empty());
    const Ints at_once = co_await arrivals(stream::throttle(stream::iter(Ints(3)), 0ms));
    EXPECT_EQ(at_once, (Ints{0, 0, 0}));
    auto never = stream::throttle(stream::iter(Ints(3)), std::chrono::hours::max());
    const Ints first = co_await stream::collect(stream::take(std::move(never), 1));
    EXPECT_EQ(first.size(), 1U);
  });
}

TEST(StreamChunksTimeout, GivesWhatHasComeWhenTheTimeIsOver) {
  run_paused([]() -> Async<> {
    Ints sources{0, 1, 2, 3, 50, 58, 61, 100};
    auto chunks = stream::chunks_timeout(at(sources), 3, 10ms);
    const auto all = co_await stream::collect(std::move(chunks));
    EXPECT_EQ(all, (std::vector<Ints>{{0, 1, 2}, {3}, {50, 58}, {61}, {100}}));
  });
}

TEST(StreamChunksTimeout, CountsTheTimeFromTheFirstItem) {
  run_paused([]() -> Async<> {
    Ints sources{5, 9, 40};
    const Ints times = co_await arrivals(stream::chunks_timeout(at(sources), 3, 10ms));
    EXPECT_EQ(times, (Ints{15, 40})) << "the last one is given at the end of the stream";
  });
}

TEST(StreamChunksTimeout, KeepsItsChunkWhenNextIsDropped) {
  run_paused([]() -> Async<> {
    Ints sources{0, 5, 30};
    auto chunks = stream::chunks_timeout(at(sources), 9, 10ms);
    for (int i = 0; i < 3; ++i) {
      auto late = [](time::Nanoseconds wait) -> Async<std::optional<Ints>> {
        co_await sleep(wait);
        co_return std::nullopt;
      };
      const auto none = co_await race(stream::next(chunks), late(2ms));
      EXPECT_FALSE(none.has_value());
    }
    const auto first = co_await stream::next(chunks);
    EXPECT_EQ(first, (Ints{0, 5}));
  });
}

TEST(StreamsOfTime, ReadAnIntervalAsAStream) {
  run_paused([]() -> Async<> {
    const Ints times = co_await arrivals(stream::take(interval(10ms), 3));
    EXPECT_EQ(times, (Ints{0, 10, 20}));
  });
}

TEST(StreamsOfTime, PassExceptionsOnAndBorrowAsTheirStreamDoes) {
  run_paused([]() -> Async<> {
    Feed<int> feed;
    auto chunks = stream::chunks_timeout(feed.stream(), 2, 10ms);
    feed.give(1);
    feed.fail("fed");
    feed.give(2);
    bool caught = false;
    try {
      (void)co_await stream::next(chunks);
    } catch (const TestError&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    const auto kept = co_await stream::next(chunks);
    EXPECT_EQ(kept, (Ints{1, 2}));
    auto numbers = stream::iter(Ints());
    EXPECT_TRUE(stream::throttle(stream::by_ref(numbers), 1ms).borrows());
    EXPECT_TRUE(stream::chunks_timeout(stream::by_ref(numbers), 1, 1ms).borrows());
    EXPECT_FALSE(stream::throttle(stream::iter(Ints()), 1ms).borrows());
  });
}

TEST(StreamsOfTimeDeathTest, ChunksOfNothingAreRefused) {
  EXPECT_DEATH((void)stream::chunks_timeout(stream::iter(Ints()), 0, 1ms),
               "would never give anything");
}

/// What comes when, in milliseconds from the beginning: negative for a TimedOut.
template <class S>
Async<Ints> arrivals_and_timeouts(S stream, std::size_t most) {
  const time::Instant begin = time::now();
  Ints times;
  for (bool is_over = false; !is_over && times.size() < most;) {
    const auto now = [&] { return static_cast<int>((time::now() - begin) / 1ms); };
    try {
      is_over = !co_await stream::next(stream);
      if (!is_over) times.push_back(now());
    } catch (const TimedOut& error) {
      EXPECT_EQ(error.code(), std::errc::timed_out);
      times.push_back(-now());
    }
  }
  co_return times;
}

TEST(StreamTimeout, ThrowsOnceWhereNoItemComesInTimeAndGoesOn) {
  run_paused([]() -> Async<> {
    Ints sources{5, 12, 50, 55, 90};
    const Ints times = co_await arrivals_and_timeouts(stream::timeout(at(sources), 10ms), 100);
    EXPECT_EQ(times, (Ints{5, 12, -22, 50, 55, -65, 90}));
  });
}

TEST(StreamTimeout, CountsFromTheCallToTheFirstItem) {
  run_paused([]() -> Async<> {
    auto late = stream::timeout(at(Ints{30}), 10ms);
    co_await sleep(6ms);
    const Ints times = co_await arrivals_and_timeouts(std::move(late), 100);
    EXPECT_EQ(times, (Ints{-4, 30}));
  });
}

TEST(StreamTimeout, GivesAnItemThatIsThereHoweverLateItIsAskedFor) {
  run_paused([]() -> Async<> {
    auto items = stream::timeout(stream::iter(Ints{1, 2}), 10ms);
    co_await sleep(1h);
    EXPECT_EQ(co_await stream::next(items), 1);
    co_await sleep(1h);
    EXPECT_EQ(co_await stream::next(items), 2);
    co_await sleep(1h);
    EXPECT_EQ(co_await stream::next(items), std::nullopt);
    EXPECT_EQ(co_await stream::next(items), std::nullopt);
  });
}

TEST(StreamTimeout, ATaskWithoutBudgetIsNotLate) {
  run_paused([]() -> Async<> {
    auto items = stream::timeout(stream::iter(Ints{1}), 10ms);
    co_await sleep(1h);
    const testing::CountingWaker waker;
    Context none(waker.waker(), 0);
    EXPECT_TRUE(items.poll_next(none).is_pending());
    EXPECT_EQ(co_await stream::next(items), 1);
  });
}

TEST(StreamTimeout, PassesExceptionsOnWhichAreNoItems) {
  run_paused([]() -> Async<> {
    Feed<int> feed;
    auto items = stream::timeout(feed.stream(), 10ms);
    co_await sleep(6ms);
    feed.fail("source");
    EXPECT_THROW((void)co_await stream::next(items), TestError);
    const time::Instant begin = time::now();
    EXPECT_THROW((void)co_await stream::next(items), TimedOut);
    EXPECT_EQ(time::now() - begin, 4ms);
  });
}

TEST(StreamTimeout, KeepsTheContractsOfStreams) {
  run_paused([]() -> Async<> {
    check_stream_contracts(1, [](Feeds& f) { return stream::timeout(f[0].stream(), 1h); });
    Ints none;
    EXPECT_TRUE(stream::timeout(stream::iter(none), 1h).borrows());
    EXPECT_FALSE(stream::timeout(stream::iter(Ints()), 1h).borrows());
    co_return;
  });
}

}  // namespace
}  // namespace rouse::test
