// The adapters that turn one stream into another without waiting for anything else.
#include <forward_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async_stream.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/chain.hpp"
#include "rouse/stream/chunks.hpp"
#include "rouse/stream/filter.hpp"
#include "rouse/stream/filter_map.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/once.hpp"
#include "rouse/stream/poll_fn.hpp"
#include "rouse/stream/skip.hpp"
#include "rouse/stream/skip_while.hpp"
#include "rouse/stream/take.hpp"
#include "rouse/stream/take_while.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using Ints = std::vector<int>;

auto numbers(int last) { return stream::iter(std::views::iota(1, last + 1)); }
auto is_even = [](int x) { return x % 2 == 0; };
auto below_three = [](int x) { return x < 3; };

TEST(StreamIter, OwnsAnRvalueAndMovesItsElementsOut) {
  std::vector<std::unique_ptr<int>> boxes;
  for (int i = 0; i < 3; ++i) boxes.push_back(std::make_unique<int>(i));
  auto stream = stream::iter(std::move(boxes));
  EXPECT_FALSE(stream.borrows());
  auto moved = std::move(stream);
  const auto all = read_ready(std::move(moved));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(*all[2], 2);
}

TEST(StreamIter, BorrowsAnLvalueAndCopiesItsElements) {
  std::vector<std::string> words{"one", "two"};
  auto stream = stream::iter(words);
  EXPECT_TRUE(stream.borrows());
  words.push_back("three");
  EXPECT_EQ(read_ready(std::move(stream)), words);
  const std::vector<std::string>& unchanged = words;
  EXPECT_EQ(read_ready(stream::iter(unchanged)), words);
  EXPECT_EQ(words[0], "one");
}

TEST(StreamIter, TakesViewsAndAllKindsOfRanges) {
  std::vector<std::string> words{"one", "two"};
  EXPECT_EQ(read_ready(stream::iter(std::span(words))), words);
  EXPECT_EQ(words[0], "one") << "a view does not own its elements";
  EXPECT_EQ(read_ready(stream::iter(std::forward_list{1, 2, 3})), (Ints{1, 2, 3}));
  EXPECT_EQ(read_ready(stream::iter(std::vector<bool>{true, false})),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(read_ready(numbers(3)), (Ints{1, 2, 3}));
  EXPECT_EQ(read_ready(stream::iter(Ints())), Ints());
}

TEST(StreamIter, TakesAStepOfTheBudgetForEachElement) {
  auto stream = numbers(10);
  const testing::CountingWaker waker;
  Context cx(waker.waker(), 2);
  EXPECT_EQ(stream.poll_next(cx).value(), 1);
  EXPECT_EQ(stream.poll_next(cx).value(), 2);
  EXPECT_TRUE(stream.poll_next(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(poll_next_once(stream).value(), 3);
}

TEST(StreamMapping, TurnsEachItemIntoWhatTheFunctionReturns) {
  auto stream = stream::map(
      numbers(3), [own = std::make_unique<int>(10)](int x) { return std::to_string(x + *own); });
  EXPECT_EQ(read_ready(std::move(stream)), (std::vector<std::string>{"11", "12", "13"}));
}

TEST(StreamMapping, PassesItemsThatCanOnlyBeMoved) {
  auto stream =
      stream::filter(stream::map(numbers(4), [](int x) { return std::make_unique<int>(x); }),
                     [](const std::unique_ptr<int>& box) { return *box > 2; });
  const auto all = read_ready(std::move(stream));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(*all[0], 3);
}

TEST(StreamMapping, GoesOnAfterItsFunctionThrew) {
  auto stream = stream::map(numbers(3), [](int x) {
    if (x == 2) throw TestError("two");
    return x;
  });
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 3);
}

TEST(StreamFilter, KeepsTheItemsItsFunctionSaysYesTo) {
  EXPECT_EQ(read_ready(stream::filter(numbers(6), is_even)), (Ints{2, 4, 6}));
}

TEST(StreamFilter, LetsOthersRunIfNothingPasses) {
  auto stream = stream::filter(stream::iter(std::views::iota(0)), [](int) { return false; });
  const testing::CountingWaker waker;
  Context cx(waker.waker(), 100);
  EXPECT_TRUE(stream.poll_next(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U);
}

TEST(StreamFilterMap, LeavesOutWhatIsEmpty) {
  auto stream = stream::filter_map(numbers(5), [](int x) {
    return is_even(x) ? std::optional(std::to_string(x)) : std::nullopt;
  });
  EXPECT_EQ(read_ready(std::move(stream)), (std::vector<std::string>{"2", "4"}));
}

TEST(StreamTake, GivesTheFirstItemsAndDropsTheStreamWithTheLast) {
  Feed<int> feed;
  auto stream = stream::take(feed.stream(), 2);
  for (int i = 1; i <= 3; ++i) feed.give(i);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_EQ(feed.alive(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(feed.alive(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.polls(), 2);
}

TEST(StreamTake, OfNothingNeverPolls) {
  Feed<int> feed;
  auto stream = stream::take(feed.stream(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.polls(), 0);
}

TEST(StreamTake, EndsWithAShorterStream) {
  EXPECT_EQ(read_ready(stream::take(numbers(2), 5)), (Ints{1, 2}));
}

TEST(StreamSkip, LeavesTheFirstItemsOut) {
  EXPECT_EQ(read_ready(stream::skip(numbers(4), 2)), (Ints{3, 4}));
  EXPECT_EQ(read_ready(stream::skip(numbers(4), 9)), Ints());
  EXPECT_EQ(read_ready(stream::skip(numbers(2), 0)), (Ints{1, 2}));
}

TEST(StreamTakeWhile, EndsAtTheFirstItemThatItsFunctionRefuses) {
  Feed<int> feed;
  for (const int x : {1, 2, 3, 1}) feed.give(x);
  auto stream = stream::take_while(feed.stream(), below_three);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
  EXPECT_EQ(feed.alive(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamSkipWhile, AsksItsFunctionNoMoreOnceItSaidNo) {
  auto stream = stream::skip_while(stream::iter(Ints{1, 2, 3, 1}), below_three);
  EXPECT_EQ(read_ready(std::move(stream)), (Ints{3, 1}));
}

TEST(StreamChain, GivesTheSecondStreamAfterTheFirst) {
  Feed<int> first;
  Feed<int> second;
  auto stream = stream::chain(first.stream(), second.stream());
  second.give(2);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(second.polls(), 0);
  first.give(1);
  first.end();
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(first.alive(), 0);
  second.end();
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamChunks, GivesFullChunksAndThenTheRest) {
  EXPECT_EQ(read_ready(stream::chunks(numbers(5), 2)), (std::vector<Ints>{{1, 2}, {3, 4}, {5}}));
  EXPECT_EQ(read_ready(stream::chunks(numbers(4), 2)), (std::vector<Ints>{{1, 2}, {3, 4}}));
  EXPECT_EQ(read_ready(stream::chunks(numbers(0), 2)), std::vector<Ints>());
}

TEST(StreamChunks, KeepsAPartialChunkWhileItWaitsAndWhenTheStreamThrows) {
  Feed<int> feed;
  auto stream = stream::chunks(feed.stream(), 2);
  feed.give(1);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  feed.fail("source");
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  feed.give(2);
  EXPECT_EQ(poll_next_once(stream).value(), (Ints{1, 2}));
}

TEST(StreamOnce, GivesItsItemAndEnds) {
  auto stream = stream::once(std::make_unique<int>(1));
  EXPECT_EQ(**poll_next_once(stream).value(), 1);
  EXPECT_FALSE(poll_next_once(stream).value());
  EXPECT_FALSE(poll_next_once(stream).value());
  EXPECT_EQ(read_ready(stream::empty<int>()), Ints());
}

TEST(StreamPollFn, IsPolledThroughItsFunction) {
  auto stream = stream::poll_fn([own = std::make_unique<int>(0)](Context&) {
    return PollNext<int>::ready(*own < 3 ? std::optional(++*own) : std::nullopt);
  });
  const testing::CountingWaker waker;
  Context cx(waker.waker(), 1);
  EXPECT_EQ(stream.poll_next(cx).value(), 1);
  EXPECT_TRUE(stream.poll_next(cx).is_pending()) << "the budget is used up";
  EXPECT_EQ(poll_next_once(stream).value(), 2);
}

TEST(StreamByRef, LeavesTheRestInTheStream) {
  auto all = numbers(4);
  EXPECT_EQ(read_ready(stream::take(stream::by_ref(all), 2)), (Ints{1, 2}));
  EXPECT_EQ(read_ready(stream::by_ref(all)), (Ints{3, 4}));
}

TEST(StreamAdapters, BorrowIfTheirStreamDoes) {
  auto all = numbers(4);
  const Ints owned;
  const auto add = [](int x) { return x + 1; };
  const auto maybe = [](int x) { return std::optional(x); };
  const auto ref = stream::by_ref(all);
  const auto own = [] { return stream::iter(Ints()); };
  EXPECT_TRUE(stream::map(ref, add).borrows());
  EXPECT_FALSE(stream::map(own(), add).borrows());
  EXPECT_TRUE(stream::filter(ref, is_even).borrows());
  EXPECT_FALSE(stream::filter(own(), is_even).borrows());
  EXPECT_TRUE(stream::filter_map(ref, maybe).borrows());
  EXPECT_TRUE(stream::take(ref, 1).borrows());
  EXPECT_FALSE(stream::take(own(), 1).borrows());
  EXPECT_TRUE(stream::skip(ref, 1).borrows());
  EXPECT_TRUE(stream::take_while(ref, is_even).borrows());
  EXPECT_TRUE(stream::skip_while(ref, is_even).borrows());
  EXPECT_TRUE(stream::chain(own(), ref).borrows());
  EXPECT_FALSE(stream::chain(own(), own()).borrows());
  EXPECT_TRUE(stream::chunks(ref, 2).borrows());
  EXPECT_TRUE(stream::iter(owned).borrows());
}

TEST(StreamAdapters, KeepTheContractsOfStreams) {
  const auto add = [](int x) { return x + 1; };
  const auto odd_as_text = [](int x) {
    return is_even(x) ? std::nullopt : std::optional(std::to_string(x));
  };
  check_stream_contracts(1, [&](Feeds& f) { return stream::map(f[0].stream(), add); });
  check_stream_contracts(1, [](Feeds& f) { return stream::filter(f[0].stream(), is_even); });
  check_stream_contracts(1,
                         [&](Feeds& f) { return stream::filter_map(f[0].stream(), odd_as_text); });
  check_stream_contracts(1, [](Feeds& f) { return stream::take(f[0].stream(), 3); });
  check_stream_contracts(1, [](Feeds& f) { return stream::skip(f[0].stream(), 2); });
  check_stream_contracts(1,
                         [](Feeds& f) { return stream::take_while(f[0].stream(), below_three); });
  check_stream_contracts(1,
                         [](Feeds& f) { return stream::skip_while(f[0].stream(), below_three); });
  check_stream_contracts(1, [](Feeds& f) { return stream::chunks(f[0].stream(), 3); });
  check_stream_contracts(2, [](Feeds& f) { return stream::chain(f[0].stream(), f[1].stream()); });
}

TEST(StreamAdaptersDeathTest, AreNotMovedAfterTheirFirstPoll) {
  auto stream = stream::map(numbers(2), [](int x) { return x; });
  (void)poll_next_once(stream);
  EXPECT_DEATH(static_cast<void>(decltype(stream)(std::move(stream))),
               "moved after its first poll");
}

TEST(StreamAdaptersDeathTest, ChunksOfNothingAreRefused) {
  EXPECT_DEATH((void)stream::chunks(numbers(2), 0), "would never give anything");
}

}  // namespace
}  // namespace rouse::test
