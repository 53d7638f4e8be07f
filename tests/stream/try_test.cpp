// Functions for streams of Results: try_next, try_collect, try_fold, try_for_each, map_ok,
// and_then.
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/result.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/and_then.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/map_ok.hpp"
#include "rouse/stream/next.hpp"
#include "rouse/stream/try_collect.hpp"
#include "rouse/stream/try_fold.hpp"
#include "rouse/stream/try_for_each.hpp"
#include "rouse/stream/try_next.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using testing::drop_at_each_poll;
using testing::PollHarness;
using Ints = std::vector<int>;
using Item = Result<int>;
using Items = std::vector<Item>;
constexpr auto broken = std::errc::io_error;

auto items_of(Items items) { return stream::iter(std::move(items)); }
auto good() { return items_of({1, 2, 3}); }
auto bad() { return items_of({1, 2, broken, 4}); }
auto add_up = [](int sum, int x) { return sum + x; };

TEST(StreamTryNext, GivesTheValuesThenNothing) {
  auto stream = good();
  auto read = [](auto& from) -> Async<Ints> {
    Ints all;
    while (auto value = co_await stream::try_next(from)) all.push_back(*value);
    co_return all;
  };
  EXPECT_EQ(block_on(read(stream)), (Ints{1, 2, 3}));
}

TEST(StreamTryNext, ThrowsTheErrorOfAnItemOrGivesItAsAResult) {
  auto stream = items_of({broken, 1, broken});
  EXPECT_THROW((void)block_on(stream::try_next(stream)), std::system_error);
  EXPECT_EQ(block_on(stream::try_next(stream)), 1) << "the stream can be read on";
  const auto failed = block_on(stream::try_next(stream).result());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), broken);
  EXPECT_EQ(*block_on(stream::try_next(stream).result()), std::nullopt);
}

TEST(StreamTryNext, DroppedMidwayLosesNothing) {
  Feed<Item> feed;
  auto stream = feed.stream();
  {
    PollHarness dropped(stream::try_next(stream));
    EXPECT_TRUE(dropped.poll().is_pending());
    EXPECT_TRUE(dropped.kept_waker() && dropped.future().borrows());
    feed.give(7);
    EXPECT_TRUE(dropped.is_woken());
  }
  EXPECT_EQ(PollHarness(stream::try_next(stream)).poll().value(), 7);
  feed.fail("source");
  EXPECT_THROW((void)PollHarness(stream::try_next(stream)).poll(), TestError);
}

TEST(StreamTryCollect, GivesAllValuesOrTheFirstError) {
  EXPECT_EQ(block_on(stream::try_collect(good())), (Ints{1, 2, 3}));
  EXPECT_EQ(block_on(stream::try_collect<std::set<int>>(items_of({2, 1, 2}))),
            (std::set<int>{1, 2}));
  EXPECT_THROW((void)block_on(stream::try_collect(bad())), std::system_error);
  const Result<Ints> result = block_on(stream::try_collect(bad()).result());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), broken);
}

TEST(StreamTryCollect, TakesValuesThatCanOnlyBeMoved) {
  auto boxes = stream::map(
      good(), [](Item x) { return Result<std::unique_ptr<int>>(std::make_unique<int>(*x)); });
  const auto all = block_on(stream::try_collect(std::move(boxes)));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(*all[1], 2);
}

TEST(StreamTryCollect, BorrowsAnLvalueWhichCanBeReadOnAfterAnError) {
  auto stream = bad();
  EXPECT_TRUE(stream::try_collect(stream).borrows());
  EXPECT_FALSE(stream::try_collect(bad()).borrows());
  EXPECT_FALSE(block_on(stream::try_collect(stream).result()));
  EXPECT_EQ(block_on(stream::try_collect(stream)), (Ints{4}));
}

TEST(StreamTryCollect, DropsItsStreamWithTheError) {
  Feed<Item> feed;
  PollHarness all(stream::try_collect(feed.stream()).result());
  feed.give(1);
  EXPECT_TRUE(all.poll().is_pending());
  feed.give(broken);
  EXPECT_TRUE(all.is_woken());
  EXPECT_FALSE(all.poll().value());
  EXPECT_EQ(feed.alive(), 0);
}

TEST(StreamTryCollect, ThrowsWhatTheStreamThrows) {
  Feed<Item> feed;
  feed.fail("source");
  EXPECT_THROW((void)PollHarness(stream::try_collect(feed.stream()).result()).poll(), TestError);
}

TEST(StreamTryFold, PutsTheValuesTogether) {
  EXPECT_EQ(block_on(stream::try_fold(good(), 10, add_up)), 16);
  EXPECT_THROW((void)block_on(stream::try_fold(bad(), 0, add_up)), std::system_error);
}

TEST(StreamTryFold, EndsWithAnErrorOfItsFunction) {
  auto stream = good();
  const auto up_to_two = [](std::unique_ptr<int> sum, int x) -> Result<std::unique_ptr<int>> {
    if (x > 2) return std::errc::value_too_large;
    *sum += x;
    return sum;
  };
  const auto sum = block_on(stream::try_fold(stream, std::make_unique<int>(0), up_to_two).result());
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error(), std::errc::value_too_large);
  const auto throws = [](int, int) -> int { throw TestError("function"); };
  EXPECT_THROW((void)block_on(stream::try_fold(good(), 0, throws).result()), TestError);
}

TEST(StreamTryForEach, CallsItsFunctionUntilTheFirstError) {
  Ints seen;
  const auto keep = [&](int x) { seen.push_back(x); };
  block_on(stream::try_for_each(good(), keep));
  EXPECT_THROW(block_on(stream::try_for_each(bad(), keep)), std::system_error);
  EXPECT_EQ(seen, (Ints{1, 2, 3, 1, 2}));
  const auto refuse = [](int x) -> Result<void> {
    if (x == 2) return std::errc::invalid_argument;
    return {};
  };
  const Result<void> refused = block_on(stream::try_for_each(bad(), refuse).result());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), std::errc::invalid_argument);
}

TEST(StreamTryForEach, RunsTheFutureOfAValueBeforeItAsksForTheNext) {
  Feed<Item> feed;
  Gates gates(2);
  PollHarness all(stream::try_for_each(
      feed.stream(), [&](int x) { return gates[static_cast<std::size_t>(x)].future(); }));
  feed.give(0);
  feed.give(1);
  feed.end();
  EXPECT_TRUE(all.poll().is_pending());
  EXPECT_EQ(gates[1].polls(), 0);
  gates[0].open(0);
  EXPECT_TRUE(all.poll().is_pending());
  gates[1].open(0);
  EXPECT_TRUE(all.poll().is_ready());
}

Async<Result<void>> fail_at_two(int x) {
  co_await yield_now();
  if (x == 2) co_return std::errc::invalid_argument;
  co_return Result<void>();
}
AsyncResult<void> async_result_at_two(int x) {
  co_await yield_now();
  if (x == 2) co_return std::errc::invalid_argument;
  co_return Result<void>();
}

TEST(StreamTryForEach, EndsWithTheErrorOfAFuture) {
  const Result<void> failed = block_on(stream::try_for_each(good(), fail_at_two).result());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), std::errc::invalid_argument);
  const Result<void> attempt = block_on(stream::try_for_each(good(), async_result_at_two).result());
  ASSERT_FALSE(attempt);
  EXPECT_EQ(attempt.error(), std::errc::invalid_argument);
  const auto throws = [](int) -> Async<> {
    co_await yield_now();
    throw TestError("future");
  };
  EXPECT_THROW((void)block_on(stream::try_for_each(good(), throws).result()), TestError);
}

TEST(StreamMapOk, TurnsValuesAndLeavesErrors) {
  auto stream = stream::map_ok(bad(), [](int x) { return std::to_string(10 * x); });
  EXPECT_EQ(*poll_next_once(stream).value().value(), "10");
  EXPECT_EQ(*poll_next_once(stream).value().value(), "20");
  EXPECT_EQ(poll_next_once(stream).value()->error(), broken);
  EXPECT_EQ(*poll_next_once(stream).value().value(), "40");
  EXPECT_FALSE(poll_next_once(stream).value());
}

TEST(StreamAndThen, RunsAFutureForEachValueAndLeavesErrors) {
  const auto half = [](int x) -> Async<Result<std::unique_ptr<int>>> {
    co_await yield_now();
    if (x % 2 == 1) co_return std::errc::invalid_argument;
    co_return std::make_unique<int>(x / 2);
  };
  const auto all = block_on(stream::collect(stream::and_then(bad(), half)));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].error(), std::errc::invalid_argument);
  EXPECT_EQ(**all[1], 1);
  EXPECT_EQ(all[2].error(), broken);
  EXPECT_EQ(**all[3], 2);
}

TEST(StreamAndThen, TakesFuturesOfPlainValues) {
  const auto twice = [](int x) -> Async<int> { co_return 2 * x; };
  const auto sum = block_on(stream::try_fold(stream::and_then(good(), twice), 0, add_up));
  EXPECT_EQ(sum, 12);
}

auto as_item = [](int x) { return x == 2 ? Item(broken) : Item(x); };

TEST(TryAdapters, KeepTheContractsOfStreams) {
  const auto shown = [](Item x) { return x ? *x : -1; };
  check_stream_contracts(1, [&](Feeds& f) {
    auto items = stream::map(f[0].stream(), as_item);
    return stream::map(stream::map_ok(std::move(items), [](int x) { return x; }), shown);
  });
  check_stream_contracts(1, [&](Feeds& f) {
    auto items = stream::map(f[0].stream(), as_item);
    const auto later = [](int x) -> Async<int> {
      co_await yield_now();
      co_return x;
    };
    return stream::map(stream::and_then(std::move(items), later), shown);
  });
}

template <class Make>
void expect_try_leaves_nothing(Make make) {
  Feed<Item> feed;
  const auto report = drop_at_each_poll(
      [&] {
        feed = Feed<Item>();
        return make(feed);
      },
      [&](std::size_t poll) { poll < 3 ? feed.give(1) : feed.give(broken); },
      [&](std::size_t) { EXPECT_EQ(feed.alive(), 0); });
  EXPECT_EQ(report.polls, 4U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_TRUE(report.threw);
}

TEST(TryConsumers, DroppedAtAnyPollLeaveNothingBehind) {
  const auto nothing = [](int) -> Async<> { co_return; };
  expect_try_leaves_nothing([](auto& feed) { return stream::try_collect(feed.stream()); });
  expect_try_leaves_nothing([](auto& feed) { return stream::try_fold(feed.stream(), 0, add_up); });
  expect_try_leaves_nothing(
      [](auto& feed) { return stream::try_for_each(feed.stream(), [](int) {}); });
  expect_try_leaves_nothing(
      [&](auto& feed) { return stream::try_for_each(feed.stream(), nothing); });
}

TEST(TryConsumers, AreSpawnedOnAPool) {
  ThreadPool pool;
  auto all = pool.spawn(stream::try_collect(good()));
  auto failed = pool.spawn(stream::try_for_each(good(), fail_at_two).result());
  EXPECT_EQ(block_on(std::move(all)), (Ints{1, 2, 3}));
  EXPECT_FALSE(block_on(std::move(failed)));
}

TEST(TryConsumersDeathTest, AreNotPolledAgain) {
  PollHarness all(stream::try_collect(items_of({})));
  EXPECT_TRUE(all.poll().is_ready());
  EXPECT_DEATH((void)all.poll(), "polled again");
  PollHarness failed(stream::try_collect(items_of({broken})).result());
  EXPECT_TRUE(failed.poll().is_ready());
  EXPECT_DEATH((void)failed.poll(), "polled again");
}

TEST(StreamOfResultsWithoutValues, HasTheSameFunctions) {
  using Done = Result<void>;
  const auto some = [] { return stream::iter(std::vector<Done>{Done(), Done(), broken, Done()}); };
  int calls = 0;
  EXPECT_THROW(block_on(stream::try_for_each(some(), [&] { ++calls; })), std::system_error);
  EXPECT_EQ(calls, 2);
  const auto numbers_of = [](auto stream) {
    Ints numbers;
    for (const Item& item : block_on(stream::collect(std::move(stream)))) {
      numbers.push_back(item.value_or(-1));
    }
    return numbers;
  };
  EXPECT_EQ(numbers_of(stream::map_ok(some(), [&] { return ++calls; })), (Ints{3, 4, -1, 5}));
  const auto later = [&]() -> Async<int> {
    co_await yield_now();
    co_return ++calls;
  };
  EXPECT_EQ(numbers_of(stream::and_then(some(), later)), (Ints{6, 7, -1, 8}));
}

}  // namespace
}  // namespace rouse::test
