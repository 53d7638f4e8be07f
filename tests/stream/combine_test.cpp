// Several streams read as one: merge, zip, StreamMap; and streams of any type.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/any_stream.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/merge.hpp"
#include "rouse/stream/stream_map.hpp"
#include "rouse/stream/take.hpp"
#include "rouse/stream/zip.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using stream::AnyStream;
using stream::StreamMap;
using testing::PollHarness;
using Ints = std::vector<int>;

AsyncStream<int> always(int value) {
  for (;;) co_yield value;
}

AsyncStream<int> slow_numbers(int last) {
  for (int i = 1; i <= last; ++i) {
    co_await yield_now();
    co_yield i;
  }
}

TEST(StreamMerge, GivesItemsAsTheyComeAndEndsWithTheLastStream) {
  Feeds feeds(3);
  auto stream = stream::merge(feeds[0].stream(), feeds[1].stream(), feeds[2].stream());
  feeds[2].give(2);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  feeds[0].give(0);
  feeds[0].end();
  EXPECT_EQ(poll_next_once(stream).value(), 0);
  feeds[2].end();
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(feeds[0].alive() + feeds[2].alive(), 0) << "dropped at their end";
  feeds[1].give(1);
  feeds[1].end();
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamMerge, GivesEachStreamItsTurn) {
  auto stream = stream::take(stream::merge(always(0), always(1), always(2)), 9);
  EXPECT_EQ(read_ready(std::move(stream)), (Ints{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(StreamMerge, GoesOnAfterOneStreamThrew) {
  Feeds feeds(2);
  auto stream = stream::merge(feeds[0].stream(), feeds[1].stream());
  feeds[0].fail("first");
  feeds[1].give(1);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  feeds[0].give(0);
  EXPECT_EQ(poll_next_once(stream).value(), 0);
}

TEST(StreamMerge, IsFedByTwoThreads) {
  Feeds feeds(2);
  auto merged = stream::merge(feeds[0].stream(), feeds[1].stream());
  std::vector<std::thread> feeders;
  for (int i = 0; i < 2; ++i) {
    feeders.emplace_back([feed = feeds[static_cast<std::size_t>(i)]]() mutable {
      for (int n = 0; n < 1000; ++n) feed.give(n);
      feed.end();
    });
  }
  EXPECT_EQ(block_on(stream::collect(std::move(merged))).size(), 2000U);
  for (std::thread& feeder : feeders) feeder.join();
}

TEST(StreamZip, PairsItemsThatComeAtDifferentTimes) {
  Feed<int> numbers;
  Feed<std::string> words;
  auto stream = stream::zip(numbers.stream(), words.stream());
  words.give("one");
  words.give("two");
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  numbers.give(1);
  EXPECT_EQ(poll_next_once(stream).value(), std::pair(1, std::string("one")));
  numbers.give(2);
  EXPECT_EQ(poll_next_once(stream).value(), std::pair(2, std::string("two")));
}

TEST(StreamZip, EndsWithTheShorterStreamAndDropsBoth) {
  for (const std::size_t shorter : {0U, 1U}) {
    Feeds feeds(2);
    auto stream = stream::zip(feeds[0].stream(), feeds[1].stream());
    feeds[1 - shorter].give(1);
    EXPECT_TRUE(poll_next_once(stream).is_pending());
    feeds[shorter].end();
    EXPECT_FALSE(poll_next_once(stream).value());
    EXPECT_FALSE(poll_next_once(stream).value());
    EXPECT_EQ(feeds[0].alive() + feeds[1].alive(), 0);
  }
}

TEST(StreamZip, PassesItemsThatCanOnlyBeMoved) {
  auto boxes = [] {
    return stream::map(slow_numbers(2), [](int x) { return std::make_unique<int>(x); });
  };
  const auto pairs = block_on(stream::collect(stream::zip(boxes(), boxes())));
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(*pairs[1].first, *pairs[1].second);
}

TEST(StreamZip, KeepsAnItemWhoseStreamWaitsOrThrows) {
  Feeds feeds(2);
  auto stream = stream::zip(feeds[0].stream(), feeds[1].stream());
  feeds[0].give(1);
  feeds[1].fail("second");
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  feeds[1].give(2);
  EXPECT_EQ(poll_next_once(stream).value(), std::pair(1, 2));
}

TEST(StreamMap, GivesItemsWithTheirKeys) {
  Feeds feeds(2);
  StreamMap<std::string, Feed<int>::Read> map;
  EXPECT_TRUE(map.insert("a", feeds[0].stream()));
  EXPECT_TRUE(map.insert("b", feeds[1].stream()));
  EXPECT_EQ(map.size(), 2U);
  feeds[1].give(1);
  EXPECT_EQ(poll_next_once(map).value(), std::pair(std::string("b"), 1));
  feeds[1].end();
  EXPECT_TRUE(poll_next_once(map).is_pending());
  EXPECT_FALSE(map.contains("b")) << "it has ended";
  EXPECT_EQ(feeds[1].alive(), 0);
  EXPECT_TRUE(map.remove("a"));
  EXPECT_FALSE(map.remove("a"));
  EXPECT_EQ(poll_next_once(map).value(), std::nullopt);
  EXPECT_EQ(feeds[0].alive(), 0);
}

TEST(StreamMap, IsReadOnAfterItWasEmpty) {
  StreamMap<int, Feed<int>::Read> map;
  EXPECT_EQ(poll_next_once(map).value(), std::nullopt);
  Feed<int> feed;
  feed.give(5);
  map.insert(1, feed.stream());
  EXPECT_EQ(poll_next_once(map).value(), std::pair(1, 5));
}

TEST(StreamMap, DropsTheStreamThatAnInsertReplaces) {
  Feeds feeds(2);
  StreamMap<int, Feed<int>::Read> map;
  map.insert(1, feeds[0].stream());
  EXPECT_FALSE(map.insert(1, feeds[1].stream()));
  EXPECT_EQ(feeds[0].alive(), 0);
  EXPECT_EQ(feeds[1].alive(), 1);
  EXPECT_EQ(map.size(), 1U);
}

TEST(StreamMap, GivesEachStreamItsTurn) {
  StreamMap<char, AsyncStream<int>> map;
  for (const char key : {'a', 'b', 'c'}) map.insert(key, always(0));
  std::string turns;
  for (int i = 0; i < 6; ++i) turns += poll_next_once(map).value()->first;
  EXPECT_EQ(turns, "abcabc");
  map.remove('a');
  turns.clear();
  for (int i = 0; i < 4; ++i) turns += poll_next_once(map).value()->first;
  EXPECT_EQ(turns, "bcbc");
}

TEST(StreamMap, WakesWhoeverWaitsWhenAStreamIsInserted) {
  Feeds feeds(2);
  StreamMap<int, Feed<int>::Read> map;
  map.insert(0, feeds[0].stream());
  PollHarness next(map.next());
  EXPECT_TRUE(next.poll().is_pending());
  feeds[1].give(7);
  map.insert(1, feeds[1].stream());
  EXPECT_TRUE(next.is_woken());
  EXPECT_EQ(next.poll().value(), std::pair(1, 7));
}

TEST(StreamMap, KeepsStreamsInPlaceThatMustNotMove) {
  Feed<int> feed;
  auto make = [&] { return stream::map(feed.stream(), [](int x) { return x; }); };
  StreamMap<int, decltype(make())> map;
  for (int i = 0; i < 10; ++i) {
    map.insert(i, make());
    EXPECT_TRUE(poll_next_once(map).is_pending());
  }
  auto moved = std::move(map);
  feed.give(1);
  EXPECT_EQ(poll_next_once(moved).value(), std::pair(0, 1));
}

/// Ends at once, and takes all others out of its map when it is dropped.
class TakesAllAlong {
 public:
  using Item = int;
  explicit TakesAllAlong(StreamMap<int, AnyStream<int>>& map) noexcept : map_(&map) {}
  TakesAllAlong(TakesAllAlong&& other) noexcept : map_(std::exchange(other.map_, nullptr)) {}
  ~TakesAllAlong() {
    for (int key = 0; map_ != nullptr && key < 3; ++key) map_->remove(key);
  }
  PollNext<int> poll_next(Context&) { return PollNext<int>::ready(std::nullopt); }

 private:
  StreamMap<int, AnyStream<int>>* map_;
};

TEST(StreamMap, LetsADestructorTakeOtherStreamsOut) {
  StreamMap<int, AnyStream<int>> map;
  for (int key = 0; key < 3; ++key) map.insert(key, TakesAllAlong(map));
  EXPECT_EQ(poll_next_once(map).value(), std::nullopt);
  EXPECT_TRUE(map.empty());
}

TEST(StreamMap, GoesOnAfterOneStreamThrew) {
  Feeds feeds(2);
  StreamMap<int, Feed<int>::Read> map;
  for (int i = 0; i < 2; ++i) map.insert(i, feeds[static_cast<std::size_t>(i)].stream());
  feeds[0].fail("first");
  feeds[1].give(1);
  EXPECT_THROW((void)poll_next_once(map), TestError);
  EXPECT_EQ(poll_next_once(map).value(), std::pair(1, 1));
  feeds[0].give(2);
  EXPECT_EQ(poll_next_once(map).value(), std::pair(0, 2));
}

TEST(AnyStream, HoldsStreamsOfAnyTypeAndMayMoveAtAnyTime) {
  std::vector<AnyStream<int>> all;
  all.emplace_back(slow_numbers(2));
  all.emplace_back(stream::iter(Ints{3, 4}));
  auto lasting = stream::iter(Ints{5});
  all.emplace_back(stream::by_ref(lasting));
  EXPECT_FALSE(all[1].borrows());
  EXPECT_TRUE(all[2].borrows());
  EXPECT_EQ(poll_next_once(all[1]).value(), 3);
  AnyStream<int> moved = std::move(all[1]);
  EXPECT_EQ(poll_next_once(moved).value(), 4);
  EXPECT_EQ(block_on(stream::collect(std::move(all[0]))), (Ints{1, 2}));
  moved = std::move(all[2]);
  EXPECT_EQ(poll_next_once(moved).value(), 5);
}

TEST(StreamsOfStreams, KeepTheContractsOfStreams) {
  check_stream_contracts(
      3, [](Feeds& f) { return stream::merge(f[0].stream(), f[1].stream(), f[2].stream()); });
  check_stream_contracts(2, [](Feeds& f) { return stream::zip(f[0].stream(), f[1].stream()); });
  check_stream_contracts(3, [](Feeds& f) {
    StreamMap<int, Feed<int>::Read> map;
    for (int i = 0; i < 3; ++i) map.insert(i, f[static_cast<std::size_t>(i)].stream());
    return map;
  });
  check_stream_contracts(
      2, [](Feeds& f) { return AnyStream<int>(stream::merge(f[1].stream(), f[0].stream())); });
}

TEST(StreamsOfStreams, RunOnAPool) {
  ThreadPool pool;
  auto merged = stream::merge(slow_numbers(200), slow_numbers(200), slow_numbers(200));
  auto zipped = stream::zip(slow_numbers(200), slow_numbers(300));
  auto all = pool.spawn(stream::collect(std::move(merged)));
  auto pairs = pool.spawn(stream::collect(std::move(zipped)));
  EXPECT_EQ(block_on(std::move(all)).size(), 600U);
  EXPECT_EQ(block_on(std::move(pairs)).size(), 200U);
}

TEST(StreamsOfStreams, BorrowIfOneOfThemDoes) {
  auto one = stream::iter(Ints());
  auto own = [] { return stream::iter(Ints()); };
  EXPECT_TRUE(stream::merge(own(), stream::by_ref(one)).borrows());
  EXPECT_FALSE(stream::merge(own(), own()).borrows());
  EXPECT_TRUE(stream::zip(stream::by_ref(one), own()).borrows());
  EXPECT_FALSE(stream::zip(own(), own()).borrows());
  StreamMap<int, AnyStream<int>> map;
  map.insert(1, own());
  EXPECT_FALSE(map.borrows());
  map.insert(2, stream::by_ref(one));
  EXPECT_TRUE(map.borrows());
}

}  // namespace
}  // namespace rouse::test
