// Adapters that remember: enumerate, inspect, map_while, scan, flatten, flat_map, peekable,
// take_until; and unfold, a stream made of a state.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/enumerate.hpp"
#include "rouse/stream/flat_map.hpp"
#include "rouse/stream/flatten.hpp"
#include "rouse/stream/inspect.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/map_while.hpp"
#include "rouse/stream/next.hpp"
#include "rouse/stream/peekable.hpp"
#include "rouse/stream/scan.hpp"
#include "rouse/stream/take_until.hpp"
#include "rouse/stream/unfold.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using testing::drop_at_each_poll;
using testing::PollHarness;
using Ints = std::vector<int>;

auto of(Ints items) { return stream::iter(std::move(items)); }
auto boxes_of(Ints items) {
  return stream::map(of(std::move(items)), [](int x) { return std::make_unique<int>(x); });
}

TEST(StreamEnumerate, NumbersTheItemsFromZero) {
  const std::vector<std::pair<std::size_t, int>> expected{{0, 7}, {1, 8}, {2, 9}};
  EXPECT_EQ(read_ready(stream::enumerate(of({7, 8, 9}))), expected);
}

TEST(StreamEnumerate, DoesNotCountAnException) {
  Feed<int> feed;
  auto stream = stream::enumerate(feed.stream());
  feed.give(5);
  feed.fail("source");
  feed.give(6);
  EXPECT_EQ(poll_next_once(stream).value()->first, 0U);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), (std::pair<std::size_t, int>(1, 6)));
}

TEST(StreamEnumerate, PassesItemsThatCanOnlyBeMoved) {
  auto stream = stream::enumerate(boxes_of({3}));
  EXPECT_EQ(*poll_next_once(stream).value()->second, 3);
}

TEST(StreamInspect, ShowsEachItemBeforeItIsGivenOn) {
  Ints seen;
  auto stream = stream::inspect(boxes_of({1, 2}),
                                [&](const std::unique_ptr<int>& box) { seen.push_back(*box); });
  EXPECT_EQ(**poll_next_once(stream).value(), 1);
  EXPECT_EQ(seen, (Ints{1}));
  EXPECT_EQ(**poll_next_once(stream).value(), 2);
  EXPECT_FALSE(poll_next_once(stream).value());
  EXPECT_EQ(seen, (Ints{1, 2}));
}

TEST(StreamInspect, LosesTheItemIfItsFunctionThrows) {
  auto stream = stream::inspect(of({1, 2}), [](int x) {
    if (x == 1) throw TestError("function");
  });
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
}

std::optional<std::string> text_below_three(int x) {
  return x < 3 ? std::optional(std::to_string(x)) : std::nullopt;
}

TEST(StreamMapWhile, EndsAtTheFirstEmptyOptionalAndDropsItsStream) {
  Feed<int> feed;
  for (const int x : {1, 2, 3, 1}) feed.give(x);
  auto stream = stream::map_while(feed.stream(), text_below_three);
  EXPECT_EQ(poll_next_once(stream).value(), "1");
  EXPECT_EQ(poll_next_once(stream).value(), "2");
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.alive(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamScan, KeepsAStateFromItemToItem) {
  auto totals = stream::scan(of({1, 2, 3, 90, 4}), std::make_unique<int>(10),
                             [](std::unique_ptr<int>& sum, int x) {
                               *sum += x;
                               return *sum < 100 ? std::optional(*sum) : std::nullopt;
                             });
  EXPECT_EQ(read_ready(std::move(totals)), (Ints{11, 13, 16}));
}

TEST(StreamScan, GoesOnWithItsStateAfterItsFunctionThrew) {
  auto totals = stream::scan(of({1, 2, 3}), 0, [](int& sum, int x) {
    if (x == 2) throw TestError("function");
    return std::optional(sum += x);
  });
  EXPECT_EQ(poll_next_once(totals).value(), 1);
  EXPECT_THROW((void)poll_next_once(totals), TestError);
  EXPECT_EQ(poll_next_once(totals).value(), 4);
}

TEST(StreamFlatten, ReadsOneStreamAfterAnother) {
  Feed<Feed<int>::Read> outer;
  Feed<int> first;
  Feed<int> second;
  auto stream = stream::flatten(outer.stream());
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  outer.give(first.stream());
  outer.give(second.stream());
  first.give(1);
  second.give(3);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(second.polls(), 0);
  first.give(2);
  first.end();
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(poll_next_once(stream).value(), 3);
  EXPECT_EQ(first.alive(), 0);
  outer.end();
  second.end();
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(second.alive(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamFlatten, GoesOnWithAStreamThatThrew) {
  Feed<int> inner;
  auto stream = stream::flat_map(of({0}), [&](int) { return inner.stream(); });
  inner.fail("inner");
  inner.give(1);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
}

TEST(StreamFlatten, DroppedInTheMiddleDropsTheStreamThatIsRead) {
  Feed<int> inner;
  {
    auto stream = stream::flat_map(of({0, 1}), [&](int) { return inner.stream(); });
    inner.give(1);
    EXPECT_EQ(poll_next_once(stream).value(), 1);
    EXPECT_TRUE(poll_next_once(stream).is_pending());
    EXPECT_EQ(inner.alive(), 1);
  }
  EXPECT_EQ(inner.alive(), 0);
}

TEST(StreamFlatten, LetsOthersRunIfAllStreamsAreEmpty) {
  auto stream = stream::flat_map(of(Ints(1000)), [](int) { return of({}); });
  const testing::CountingWaker waker;
  Context cx(waker.waker(), 100);
  EXPECT_TRUE(stream.poll_next(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U);
}

TEST(StreamFlatMap, GivesTheItemsOfEachStream) {
  auto stream = stream::flat_map(
      of({2, 0, 3}), [](int x) { return boxes_of(Ints(static_cast<std::size_t>(x), x)); });
  const auto all = read_ready(std::move(stream));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(*all[1], 2);
  EXPECT_EQ(*all[4], 3);
}

TEST(StreamPeekable, ShowsTheNextItemWithoutTakingIt) {
  Feed<int> feed;
  auto stream = stream::peekable(feed.stream());
  {
    PollHarness peek(stream.peek());
    EXPECT_TRUE(peek.poll().is_pending());
    EXPECT_TRUE(peek.future().borrows());
    feed.give(1);
    EXPECT_TRUE(peek.is_woken());
    EXPECT_EQ(*peek.poll().value(), 1);
  }
  int* const again = PollHarness(stream.peek()).poll().value();
  EXPECT_EQ(*again, 1);
  *again = 5;
  EXPECT_EQ(poll_next_once(stream).value(), 5);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  feed.end();
  EXPECT_EQ(PollHarness(stream.peek()).poll().value(), nullptr);
  EXPECT_EQ(PollHarness(stream.peek()).poll().value(), nullptr);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.alive(), 0);
}

TEST(StreamPeekable, TakesTheNextItemIfItsFunctionSaysYes) {
  auto read = []() -> Async<Ints> {
    auto stream = stream::peekable(of({1, 2, 3, 1}));
    Ints small;
    while (auto x = co_await stream.next_if([](int item) { return item < 3; })) small.push_back(*x);
    small.push_back(100);
    while (auto x = co_await stream::next(stream)) small.push_back(*x);
    EXPECT_FALSE(co_await stream.next_if([](int) { return true; }));
    co_return small;
  };
  EXPECT_EQ(block_on(read()), (Ints{1, 2, 100, 3, 1}));
}

TEST(StreamPeekable, HoldsItemsThatCanOnlyBeMoved) {
  auto stream = stream::peekable(boxes_of({4}));
  EXPECT_EQ(**PollHarness(stream.peek()).poll().value(), 4);
  EXPECT_EQ(**poll_next_once(stream).value(), 4);
  EXPECT_FALSE(poll_next_once(stream).value());
}

TEST(StreamPeekable, ThrowsWhatItsStreamThrowsAndGoesOn) {
  Feed<int> feed;
  auto stream = stream::peekable(feed.stream());
  feed.fail("source");
  feed.give(1);
  EXPECT_THROW((void)PollHarness(stream.peek()).poll(), TestError);
  EXPECT_EQ(*PollHarness(stream.peek()).poll().value(), 1);
}

TEST(StreamPeekable, ItsFuturesAreDroppedAtAnyPoll) {
  Feed<int> feed;
  auto stream = stream::peekable(feed.stream());
  const auto report =
      drop_at_each_poll([&] { return stream.next_if([](int x) { return x == 7; }); },
                        [&](std::size_t) { feed.give(7); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 1U) << "of the stream itself, which still waits";
  EXPECT_TRUE(poll_next_once(stream).is_pending()) << "it took the item it was fed";
}

TEST(StreamTakeUntil, EndsWhenTheFutureCompletesAndDropsBoth) {
  Feed<int> feed;
  Gate<int> gate;
  auto stream = stream::take_until(feed.stream(), gate.future());
  feed.give(1);
  feed.give(2);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  gate.open(0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt) << "the future is asked first";
  EXPECT_EQ(feed.alive(), 0);
  EXPECT_EQ(gate.alive(), 0);
  EXPECT_EQ(feed.polls(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(gate.polls(), 2);
}

TEST(StreamTakeUntil, IsWokenByTheFuture) {
  Feed<int> feed;
  Gate<int> gate;
  auto stream = stream::take_until(feed.stream(), gate.future());
  PollHarness next(stream::next(stream));
  EXPECT_TRUE(next.poll().is_pending());
  gate.open(0);
  EXPECT_TRUE(next.is_woken());
  EXPECT_EQ(next.poll().value(), std::nullopt);
}

TEST(StreamTakeUntil, DropsTheFutureAtTheEndOfTheStream) {
  Gate<int> gate;
  auto stream = stream::take_until(of({1}), gate.future());
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_EQ(gate.alive(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(gate.alive(), 0);
}

TEST(StreamTakeUntil, ThrowsWhatTheFutureThrowsAndHasEnded) {
  Feed<int> feed;
  Gate<int> gate;
  auto stream = stream::take_until(feed.stream(), gate.future());
  gate.fail("future");
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.alive() + gate.alive(), 0);
}

using Step = std::optional<std::pair<int, int>>;

Async<Step> double_until_hundred(int x) {
  co_await yield_now();
  if (x > 100) co_return std::nullopt;
  co_return std::pair(x, 2 * x);
}

TEST(StreamUnfold, GivesAnItemForEachState) {
  EXPECT_EQ(block_on(stream::collect(stream::unfold(30, double_until_hundred))), (Ints{30, 60}));
  ThreadPool pool;
  auto spawned = pool.spawn(stream::collect(stream::unfold(1, double_until_hundred)));
  EXPECT_EQ(block_on(std::move(spawned)).size(), 7U);
}

TEST(StreamUnfold, KeepsStatesAndGivesItemsThatCanOnlyBeMoved) {
  using Box = std::unique_ptr<int>;
  const auto count_down = [](Box from) -> Async<std::optional<std::pair<Box, Box>>> {
    if (*from == 0) co_return std::nullopt;
    Box item = std::make_unique<int>(*from);
    --*from;
    co_return std::pair(std::move(item), std::move(from));
  };
  const auto all = block_on(stream::collect(stream::unfold(std::make_unique<int>(3), count_down)));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(*all[2], 1);
}

TEST(StreamUnfold, EndsWhenItsFunctionThrows) {
  auto stream = stream::unfold(0, [](int x) -> Async<Step> {
    if (x == 1) throw TestError("function");
    co_return std::pair(x, x + 1);
  });
  EXPECT_EQ(poll_next_once(stream).value(), 0);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamUnfold, DroppedAtAnyPollLeavesNothingBehind) {
  const auto alive = std::make_shared<int>(0);
  const auto fn =
      [](std::shared_ptr<int> held) -> Async<std::optional<std::pair<int, std::shared_ptr<int>>>> {
    co_await yield_now();
    if (++*held > 3) co_return std::nullopt;
    co_return std::pair(*held, held);
  };
  const auto report = drop_at_each_poll(
      [&] {
        *alive = 0;
        return stream::collect(stream::unfold(alive, fn));
      },
      [](std::size_t) {}, [&](std::size_t) { EXPECT_EQ(alive.use_count(), 1); });
  EXPECT_EQ(report.polls, 5U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(StatefulAdapters, BorrowIfTheirStreamDoes) {
  auto all = of({1});
  const auto ref = [&] { return stream::by_ref(all); };
  EXPECT_TRUE(stream::enumerate(ref()).borrows());
  EXPECT_TRUE(stream::inspect(ref(), [](int) {}).borrows());
  EXPECT_TRUE(stream::map_while(ref(), text_below_three).borrows());
  EXPECT_TRUE(stream::peekable(ref()).borrows());
  EXPECT_TRUE(stream::flat_map(ref(), [](int) { return of({}); }).borrows());
  EXPECT_TRUE(stream::take_until(ref(), pending_forever<>()).borrows());
  EXPECT_TRUE(stream::take_until(of({}), stream::next(all)).borrows());
  EXPECT_FALSE(stream::take_until(of({}), pending_forever<>()).borrows());
  EXPECT_FALSE(stream::peekable(of({})).borrows());
  auto lent = stream::flat_map(of({1}), [&](int) { return ref(); });
  EXPECT_FALSE(lent.borrows());
  (void)poll_next_once(lent);
  EXPECT_TRUE(lent.borrows());
}

TEST(StatefulAdapters, KeepTheContractsOfStreams) {
  check_stream_contracts(1, [](Feeds& f) { return stream::enumerate(f[0].stream()); });
  check_stream_contracts(1, [](Feeds& f) { return stream::inspect(f[0].stream(), [](int) {}); });
  check_stream_contracts(
      1, [](Feeds& f) { return stream::map_while(f[0].stream(), text_below_three); });
  check_stream_contracts(1, [](Feeds& f) {
    return stream::scan(f[0].stream(), 0, [](int& sum, int x) { return std::optional(sum += x); });
  });
  check_stream_contracts(1, [](Feeds& f) { return stream::peekable(f[0].stream()); });
  check_stream_contracts(1, [](Feeds& f) {
    return stream::flat_map(f[0].stream(),
                            [](int x) { return of(Ints(static_cast<std::size_t>(x % 3), x)); });
  });
  check_stream_contracts(2, [](Feeds& f) {
    return stream::flat_map(of({0, 1}),
                            [&](int i) { return f[static_cast<std::size_t>(i)].stream(); });
  });
  check_stream_contracts(
      1, [](Feeds& f) { return stream::take_until(f[0].stream(), pending_forever<>()); });
}

TEST(StatefulAdaptersDeathTest, AreNotMovedAfterTheirFirstPoll) {
  auto stream = stream::peekable(of({1, 2}));
  (void)poll_next_once(stream);
  EXPECT_DEATH(static_cast<void>(decltype(stream)(std::move(stream))),
               "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
