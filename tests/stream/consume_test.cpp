// What reads a stream: next, for_each, fold, collect.
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/fold.hpp"
#include "rouse/stream/for_each.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/next.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using testing::drop_at_each_poll;
using testing::PollHarness;
using Ints = std::vector<int>;

auto plus = [](int a, int b) { return a + b; };

AsyncStream<int> yielding_numbers(int last) {
  for (int i = 1; i <= last; ++i) {
    co_await yield_now();
    co_yield i;
  }
}

TEST(StreamNext, ReadsAnAdapterInALoop) {
  auto read = []() -> Async<int> {
    auto stream = stream::map(yielding_numbers(4), [](int x) { return 10 * x; });
    int sum = 0;
    while (const auto item = co_await stream::next(stream)) sum += *item;
    co_return sum;
  };
  EXPECT_EQ(block_on(read()), 100);
}

TEST(StreamNext, DroppedMidwayLosesNothing) {
  Feed<int> feed;
  auto stream = stream::map(feed.stream(), [](int x) { return x; });
  {
    PollHarness dropped(stream::next(stream));
    EXPECT_TRUE(dropped.poll().is_pending());
    EXPECT_TRUE(dropped.kept_waker());
    feed.give(1);
    EXPECT_TRUE(dropped.is_woken());
  }
  PollHarness next(stream::next(stream));
  EXPECT_EQ(next.poll().value(), 1);
  EXPECT_TRUE(next.future().borrows());
}

TEST(StreamForEach, CallsItsFunctionWithEachItem) {
  Ints seen;
  block_on(stream::for_each(yielding_numbers(3), [&](int x) { seen.push_back(x); }));
  EXPECT_EQ(seen, (Ints{1, 2, 3}));
}

TEST(StreamForEach, RunsTheFutureOfOneItemBeforeItAsksForTheNext) {
  Feed<int> feed;
  Gates gates(2);
  PollHarness all(stream::for_each(
      feed.stream(), [&](int x) { return gates[static_cast<std::size_t>(x)].future(); }));
  feed.give(0);
  feed.give(1);
  feed.end();
  EXPECT_TRUE(all.poll().is_pending());
  EXPECT_EQ(gates[1].polls(), 0);
  gates[0].open(0);
  EXPECT_TRUE(all.poll().is_pending());
  EXPECT_EQ(gates[0].alive(), 0);
  gates[1].open(0);
  EXPECT_TRUE(all.poll().is_ready());
}

TEST(StreamForEach, ThrowsWhatTheStreamOrTheFunctionThrows) {
  Feed<int> feed;
  feed.fail("stream");
  PollHarness first(stream::for_each(feed.stream(), [](int) {}));
  EXPECT_THROW((void)first.poll(), TestError);
  const auto throws = [](int) { throw TestError("function"); };
  EXPECT_THROW(block_on(stream::for_each(yielding_numbers(1), throws)), TestError);
  const auto later = [](int) -> Async<> {
    co_await yield_now();
    throw TestError("future");
  };
  EXPECT_THROW(block_on(stream::for_each(yielding_numbers(1), later)), TestError);
}

TEST(StreamForEach, BorrowsAnLvalueWhichCanBeReadOn) {
  Feed<int> feed;
  auto stream = feed.stream();
  int sum = 0;
  {
    PollHarness dropped(stream::for_each(stream, [&](int x) { sum += x; }));
    EXPECT_TRUE(dropped.future().borrows());
    feed.give(1);
    EXPECT_TRUE(dropped.poll().is_pending());
  }
  feed.give(2);
  feed.end();
  PollHarness rest(stream::for_each(stream, [&](int x) { sum += 10 * x; }));
  EXPECT_TRUE(rest.poll().is_ready());
  EXPECT_EQ(sum, 21);
}

TEST(StreamFold, PutsTheItemsTogether) {
  EXPECT_EQ(block_on(stream::fold(yielding_numbers(4), 100, plus)), 110);
  EXPECT_EQ(block_on(stream::fold(yielding_numbers(0), 7, plus)), 7);
  auto append = [](std::unique_ptr<std::string> all, int x) {
    *all += std::to_string(x);
    return all;
  };
  auto text = stream::fold(yielding_numbers(3), std::make_unique<std::string>(), append);
  EXPECT_EQ(*block_on(std::move(text)), "123");
}

TEST(StreamFold, ThrowsWhatItsFunctionThrows) {
  const auto throws = [](int, int) -> int { throw TestError("function"); };
  EXPECT_THROW(block_on(stream::fold(yielding_numbers(1), 0, throws)), TestError);
}

TEST(StreamCollect, GivesAVectorOrTheContainerThatIsNamed) {
  EXPECT_EQ(block_on(stream::collect(yielding_numbers(3))), (Ints{1, 2, 3}));
  EXPECT_EQ(block_on(stream::collect<std::list<int>>(yielding_numbers(2))), (std::list<int>{1, 2}));
  EXPECT_EQ(block_on(stream::collect<std::set<int>>(stream::iter(Ints{3, 1, 3}))),
            (std::set<int>{1, 3}));
  auto squares = stream::map(yielding_numbers(2), [](int x) { return std::pair(x, x * x); });
  const auto table = block_on(stream::collect<std::map<int, int>>(std::move(squares)));
  EXPECT_EQ(table, (std::map<int, int>{{1, 1}, {2, 4}}));
}

TEST(StreamCollect, BorrowsAnLvalueAndOwnsAnRvalue) {
  auto stream = stream::iter(Ints{1, 2});
  EXPECT_TRUE(stream::collect(stream).borrows());
  EXPECT_EQ(block_on(stream::collect(stream)), (Ints{1, 2}));
  EXPECT_FALSE(stream::collect(stream::iter(Ints{1})).borrows());
  EXPECT_FALSE(stream::fold(stream::iter(Ints{1}), 0, plus).borrows());
}

TEST(StreamCollect, LetsOthersRunBetweenManyItems) {
  LocalExecutor executor;
  Ints many(1000, 1);
  bool other_ran = false;
  bool was_between = false;
  auto reader = executor.spawn(
      stream::for_each(stream::iter(std::move(many)), [&](int) { was_between |= other_ran; }));
  auto other = executor.spawn([&]() -> Async<> {
    other_ran = true;
    co_return;
  });
  executor.run();
  EXPECT_TRUE(reader.is_finished() && other.is_finished() && was_between);
}

TEST(StreamCollect, IsSpawnedOnAPool) {
  ThreadPool pool;
  auto sum = pool.spawn(stream::fold(yielding_numbers(500), 0, plus));
  auto all = pool.spawn(stream::collect(yielding_numbers(500)));
  EXPECT_EQ(block_on(std::move(sum)), 125250);
  EXPECT_EQ(block_on(std::move(all)).size(), 500U);
}

template <class Make>
void expect_nothing_left(Make make) {
  Feed<int> feed;
  const auto report = drop_at_each_poll(
      [&] {
        feed = Feed<int>();
        return make(feed);
      },
      [&](std::size_t poll) { poll < 4 ? feed.give(1) : feed.end(); },
      [&](std::size_t) { EXPECT_EQ(feed.alive(), 0); });
  EXPECT_EQ(report.polls, 5U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(StreamConsumers, DroppedAtAnyPollLeaveNothingBehind) {
  expect_nothing_left([](Feed<int>& feed) { return stream::collect(feed.stream()); });
  expect_nothing_left([](Feed<int>& feed) { return stream::fold(feed.stream(), 0, plus); });
  expect_nothing_left([](Feed<int>& feed) { return stream::for_each(feed.stream(), [](int) {}); });
}

TEST(StreamConsumersDeathTest, AreNotPolledAgain) {
  PollHarness collect(stream::collect(stream::iter(Ints())));
  EXPECT_TRUE(collect.poll().is_ready());
  EXPECT_DEATH((void)collect.poll(), "collect.* polled again");
  PollHarness fold(stream::fold(stream::iter(Ints()), 0, plus));
  EXPECT_TRUE(fold.poll().is_ready());
  EXPECT_DEATH((void)fold.poll(), "fold.* polled again");
}

}  // namespace
}  // namespace rouse::test
