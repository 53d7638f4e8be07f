// Streams that run futures: then, buffered, buffer_unordered, for_each_concurrent.
#include "rouse/stream/buffered.hpp"

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/buffer_unordered.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/for_each_concurrent.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/then.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "stream/support.hpp"

namespace rouse::test {
namespace {

using testing::PollHarness;
using Ints = std::vector<int>;

/// A stream of the gates' futures.
auto waits(Gates& gates) {
  return stream::map(stream::iter(std::views::iota(std::size_t(0), gates.size())),
                     [&](std::size_t i) { return gates[i].future(); });
}

Async<int> after_turns(int turns, int value) {
  for (int i = 0; i < turns; ++i) co_await yield_now();
  co_return value;
}

int begun(const Gates& gates) {
  int count = 0;
  for (const Gate<int>& gate : gates) count += gate.polls() > 0 ? 1 : 0;
  return count;
}

TEST(StreamThen, RunsOneFutureAfterAnother) {
  Gates gates(2);
  auto stream = stream::then(stream::iter(Ints{0, 1}),
                             [&](int x) { return gates[static_cast<std::size_t>(x)].future(); });
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  gates[1].open(11);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  gates[0].open(10);
  EXPECT_EQ(poll_next_once(stream).value(), 10);
  EXPECT_EQ(gates[0].alive(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), 11);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamThen, GoesOnAfterAFutureOrTheFunctionThrew) {
  auto stream = stream::then(stream::iter(Ints{0, 1, 2}), [](int x) -> Async<int> {
    if (x == 0) throw TestError("function");
    return [](int own) -> Async<int> {
      if (own == 1) throw TestError("future");
      co_return own;
    }(x);
  });
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamBuffered, RunsSoManyAtATimeAndGivesThemInOrder) {
  Gates gates(4);
  auto stream = stream::buffered(waits(gates), 2);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(begun(gates), 2);
  gates[1].open(1);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(begun(gates), 2) << "an output that waits for its turn counts";
  EXPECT_EQ(gates[0].alive(), 1);
  EXPECT_EQ(gates[1].alive(), 0) << "what is done is dropped";
  gates[0].open(0);
  EXPECT_EQ(poll_next_once(stream).value(), 0);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  gates[3].open(3);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(begun(gates), 4);
  gates[2].open(2);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(poll_next_once(stream).value(), 3);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamBuffered, ThrowsWhatAFutureThrewInItsTurn) {
  Gates gates(3);
  auto stream = stream::buffered(waits(gates), 3);
  gates[1].fail("second");
  gates[2].open(2);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  gates[0].open(0);
  EXPECT_EQ(poll_next_once(stream).value(), 0);
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamBufferUnordered, GivesWhatIsDoneFirst) {
  Gates gates(4);
  auto stream = stream::buffer_unordered(waits(gates), 2);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(begun(gates), 2);
  gates[1].open(1);
  EXPECT_EQ(poll_next_once(stream).value(), 1);
  EXPECT_TRUE(poll_next_once(stream).is_pending());
  EXPECT_EQ(begun(gates), 3);
  gates[0].fail("first");
  EXPECT_THROW((void)poll_next_once(stream), TestError);
  gates[2].open(2);
  EXPECT_EQ(poll_next_once(stream).value(), 2);
  gates[3].open(3);
  EXPECT_EQ(poll_next_once(stream).value(), 3);
  EXPECT_EQ(poll_next_once(stream).value(), std::nullopt);
}

TEST(StreamBufferUnordered, WaitsForTheStreamWhileNothingRuns) {
  Feed<Gate<int>::Wait> feed;
  Gate<int> gate;
  auto futures = stream::buffer_unordered(feed.stream(), 2);
  const testing::CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(futures.poll_next(cx).is_pending());
  feed.give(gate.future());
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(futures.poll_next(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U) << "beginning a future wakes nobody";
  gate.open(1);
  EXPECT_EQ(waker.count(), 2U);
  EXPECT_EQ(futures.poll_next(cx).value(), 1);
  feed.end();
  EXPECT_EQ(futures.poll_next(cx).value(), std::nullopt);
}

TEST(StreamBufferUnordered, PassesVoidAsUnitAndValuesThatCanOnlyBeMoved) {
  auto nothing = stream::map(stream::iter(Ints{1, 2}), [](int) { return ready(); });
  EXPECT_EQ(read_ready(stream::buffer_unordered(std::move(nothing), 2)).size(), 2U);
  auto box = [](int x) { return ready(std::make_unique<int>(x)); };
  auto boxes = stream::buffered(stream::map(stream::iter(Ints{1, 2}), box), 2);
  EXPECT_EQ(*read_ready(std::move(boxes))[1], 2);
}

TEST(StreamBuffered, KeepsTheOrderOfManyFuturesOnAPool) {
  auto work = [](int x) { return after_turns(x * 7 % 5, x); };
  auto numbers = [] {
    Ints all;
    for (int i = 0; i < 500; ++i) all.push_back(i);
    return all;
  };
  ThreadPool pool;
  auto ordered = stream::buffered(stream::map(stream::iter(numbers()), work), 8);
  auto unordered = stream::buffer_unordered(stream::map(stream::iter(numbers()), work), 8);
  auto first = pool.spawn(stream::collect(std::move(ordered)));
  auto second = pool.spawn(stream::collect(std::move(unordered)));
  EXPECT_EQ(block_on(std::move(first)), numbers());
  Ints all = block_on(std::move(second));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, numbers());
}

TEST(StreamForEachConcurrent, RunsAtMostSoManyAtATime) {
  int running = 0;
  int most = 0;
  auto work = [&](int x) -> Async<> {
    most = std::max(most, ++running);
    (void)co_await after_turns(x % 3, 0);
    --running;
  };
  Ints numbers(50);
  LocalExecutor executor;
  executor.run_until(stream::for_each_concurrent(stream::iter(numbers), 4, work));
  EXPECT_EQ(running, 0);
  EXPECT_EQ(most, 1) << "each is ready at once";
  for (int i = 0; i < 50; ++i) numbers[static_cast<std::size_t>(i)] = i + 1;
  executor.run_until(stream::for_each_concurrent(stream::iter(numbers), 4, work));
  EXPECT_EQ(running, 0);
  EXPECT_EQ(most, 4);
}

TEST(StreamForEachConcurrent, ThrowsWhatIsThrownFirstAndDropsTheRest) {
  Gates gates(3);
  {
    PollHarness all(stream::for_each_concurrent(stream::iter(Ints{0, 1, 2}), 3, [&](int x) {
      return gates[static_cast<std::size_t>(x)].future();
    }));
    EXPECT_TRUE(all.poll().is_pending());
    gates[1].fail("second");
    EXPECT_TRUE(all.is_woken());
    EXPECT_THROW((void)all.poll(), TestError);
  }
  for (const Gate<int>& gate : gates) EXPECT_EQ(gate.alive(), 0);
}

TEST(StreamForEachConcurrent, BorrowsAnLvalue) {
  Feed<int> feed;
  auto stream = feed.stream();
  PollHarness all(stream::for_each_concurrent(stream, 2, [](int) { return ready(); }));
  EXPECT_TRUE(all.future().borrows());
  feed.give(1);
  EXPECT_TRUE(all.poll().is_pending());
  feed.end();
  EXPECT_TRUE(all.is_woken());
  EXPECT_TRUE(all.poll().is_ready());
}

TEST(StreamsThatRunFutures, BorrowIfAFutureDoes) {
  const int lasting = 1;
  auto borrower = [](const int& x) -> Async<int> { co_return x + co_await after_turns(1, 1); };
  auto make = [&] {
    return stream::map(stream::iter(Ints{1}), [&](int) { return borrower(lasting); });
  };
  auto unordered = stream::buffer_unordered(make(), 2);
  EXPECT_FALSE(unordered.borrows());
  (void)poll_next_once(unordered);
  EXPECT_TRUE(unordered.borrows());
  auto ordered = stream::buffered(make(), 2);
  (void)poll_next_once(ordered);
  EXPECT_TRUE(ordered.borrows());
  auto then = stream::then(stream::iter(Ints{1}), [&](int) { return borrower(lasting); });
  (void)poll_next_once(then);
  EXPECT_TRUE(then.borrows());
}

TEST(StreamsThatRunFutures, KeepTheContractsOfStreams) {
  auto slowly = [](int x) { return after_turns(x % 3, x); };
  check_stream_contracts(1, [&](Feeds& f) { return stream::then(f[0].stream(), slowly); });
  check_stream_contracts(
      1, [&](Feeds& f) { return stream::buffered(stream::map(f[0].stream(), slowly), 2); });
  check_stream_contracts(
      1, [&](Feeds& f) { return stream::buffer_unordered(stream::map(f[0].stream(), slowly), 2); });
}

TEST(StreamsThatRunFutures, DroppedAtAnyPollLeaveNothingBehind) {
  for (const bool in_order : {true, false}) {
    Gates gates(4);
    const auto report = testing::drop_at_each_poll(
        [&] {
          gates = Gates(4);
          auto all = waits(gates);
          return in_order ? AnyFuture<Ints>(stream::collect(stream::buffered(std::move(all), 2)))
                          : AnyFuture<Ints>(
                                stream::collect(stream::buffer_unordered(std::move(all), 2)));
        },
        [&](std::size_t poll) { gates[poll == 1 ? 1 : (poll == 2 ? 0 : poll - 1)].open(1); },
        [&](std::size_t) {
          for (Gate<int>& gate : gates) {
            EXPECT_EQ(gate.alive(), 0);
            gate.wake_all_kept();
          }
        });
    EXPECT_EQ(report.polls, 5U);
    EXPECT_EQ(report.wakers_left, 0U);
  }
}

TEST(StreamsThatRunFuturesDeathTest, RefuseALimitOfNothing) {
  Gates gates(1);
  EXPECT_DEATH((void)stream::buffered(waits(gates), 0), "would never give anything");
  EXPECT_DEATH((void)stream::buffer_unordered(waits(gates), 0), "would never give anything");
}

}  // namespace
}  // namespace rouse::test
