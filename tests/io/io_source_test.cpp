// IoSource driven by hand: the tests are the reactor and the tasks at once.
#include "io/io_source.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/testing/counting_waker.hpp"

#include "io/inline_waker.hpp"

namespace rouse::io {

using namespace internal;
namespace {

using test::Inline;
using testing::CountingWaker;

constexpr std::uint64_t readable = Ready::readable;
constexpr std::uint64_t writable = Ready::writable;

/// A source as the reactor has it after the descriptor was tried once.
class IoSourceTest : public ::testing::Test {
 protected:
  IoSourceTest() {
    source.open(Interest::both);
    source.clear_blocked(source.ready(), Interest::both);
  }
  void event(std::uint64_t flags) { source.add_ready(source.generation(), flags); }
  bool is_ready(Interest direction, CountingWaker& waker) {
    Context cx(waker.waker());
    Ready ready;
    return source.poll_ready(direction, cx, ready);
  }
  bool is_ready(ReadinessWaiter& waiter, Interest interest, CountingWaker& waker) {
    Context cx(waker.waker());
    Ready ready;
    return source.poll_ready(waiter, interest, cx, ready);
  }

  IoSource source;
};

TEST_F(IoSourceTest, ANewDescriptorCountsAsReadyUntilItIsTried) {
  IoSource fresh;
  fresh.open(Interest::both);
  EXPECT_TRUE(fresh.ready().is_readable());
  EXPECT_TRUE(fresh.ready().is_writable());
  fresh.clear_blocked(fresh.ready(), Interest::readable);
  EXPECT_FALSE(fresh.ready().is_readable());
  EXPECT_TRUE(fresh.ready().is_writable());
}

TEST_F(IoSourceTest, AClearTakesAwayWhatWasSeen) {
  event(readable);
  source.clear_blocked(source.ready(), Interest::readable);
  EXPECT_FALSE(source.ready().is_readable());
}

class StaleClear : public IoSourceTest, public ::testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(After, StaleClear,
                         ::testing::Values(1, 255, 256, 257, 1U << 15, 1U << 16, 1U << 20),
                         ::testing::PrintToStringParamName());

TEST_P(StaleClear, NeverErasesANewerEdge) {
  event(readable);
  const Ready seen = source.ready();
  for (std::uint64_t i = 0; i < GetParam(); ++i) event(readable);
  source.clear_blocked(seen, Interest::readable);
  EXPECT_TRUE(source.ready().is_readable());
  source.clear_drained(seen, Interest::readable);
  EXPECT_TRUE(source.ready().is_readable());
}

TEST_F(IoSourceTest, AClearOfOneDirectionThatCrossesOneOfTheOtherIsStillDone) {
  event(readable | writable);
  const Ready reader_saw = source.ready();
  const Ready writer_saw = source.ready();
  source.clear_blocked(writer_saw, Interest::writable);
  source.clear_blocked(reader_saw, Interest::readable);
  EXPECT_FALSE(source.ready().is_readable());
  EXPECT_FALSE(source.ready().is_writable());
}

TEST_F(IoSourceTest, AStreamThatIsDrainedKeepsItsEnd) {
  event(readable | Ready::read_closed);
  source.clear_drained(source.ready(), Interest::readable);
  EXPECT_TRUE(source.ready().is_readable());
  EXPECT_TRUE(source.ready().is_read_closed());
}

TEST_F(IoSourceTest, AShortReadBeforeAnUrgentByteSaysNothingOfWhatIsBehindIt) {
  event(readable | Ready::urgent);
  source.clear_drained(source.ready(), Interest::readable);
  EXPECT_TRUE(source.ready().is_readable());
  source.clear_blocked(source.ready(), Interest::readable);
  EXPECT_FALSE(source.ready().is_readable());
  event(readable);
  source.clear_drained(source.ready(), Interest::readable);
  EXPECT_FALSE(source.ready().is_readable());
}

TEST_F(IoSourceTest, AnEventOfAnOlderGenerationChangesNothingAndWakesNobody) {
  const std::uint64_t old = source.generation();
  source.retire();
  source.open(Interest::readable);
  source.clear_blocked(source.ready(), Interest::readable);
  ASSERT_NE(source.generation(), old);
  const std::uint64_t before = source.ready().word();
  CountingWaker waker;
  ReadinessWaiter waiter;
  ASSERT_FALSE(is_ready(Interest::readable, waker));
  ASSERT_FALSE(is_ready(waiter, Interest::readable, waker));
  source.add_ready(old, readable | Ready::error);
  EXPECT_EQ(source.ready().word(), before);
  EXPECT_EQ(waker.count(), 0U);
}

TEST_F(IoSourceTest, AClearOfAnOlderGenerationChangesNothing) {
  event(readable);
  const Ready seen = source.ready();
  source.retire();
  source.open(Interest::readable);
  source.clear_blocked(seen, Interest::readable);
  EXPECT_TRUE(source.ready().is_readable());
}

TEST_F(IoSourceTest, TheGenerationComesRoundWithoutTouchingTheTick) {
  event(readable);
  const std::uint64_t first = source.generation();
  const std::uint64_t tick = source.ready().word() >> IoSource::tick_shift;
  for (std::uint64_t i = 0; i <= IoSource::generation_mask; ++i) {
    source.retire();
    source.open(Interest::readable);
  }
  EXPECT_EQ(source.generation(), first);
  EXPECT_EQ(source.ready().word() >> IoSource::tick_shift, tick);
}

TEST_F(IoSourceTest, AnEventWakesOnlyWhoWaitsForThat) {
  CountingWaker reader;
  CountingWaker writer;
  ASSERT_FALSE(is_ready(Interest::readable, reader));
  ASSERT_FALSE(is_ready(Interest::writable, writer));
  event(writable);
  EXPECT_EQ(reader.count(), 0U);
  EXPECT_EQ(writer.count(), 1U);
  event(Ready::error);  // concerns both; the writer does not wait any more
  EXPECT_EQ(reader.count(), 1U);
  EXPECT_EQ(writer.count(), 1U);
}

TEST_F(IoSourceTest, OnlyTheLatestWakerOfADirectionIsKept) {
  CountingWaker first;
  CountingWaker second;
  ASSERT_FALSE(is_ready(Interest::readable, first));
  ASSERT_FALSE(is_ready(Interest::readable, second));
  EXPECT_EQ(first.clones(), 0U);
  event(readable);
  EXPECT_EQ(first.count(), 0U);
  EXPECT_EQ(second.count(), 1U);
}

TEST_F(IoSourceTest, PolledAgainWithoutAnEventAWaiterStaysPendingAndIsWokenOnce) {
  CountingWaker waker;
  ReadinessWaiter waiter;
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(is_ready(waiter, Interest::readable, waker));
  EXPECT_EQ(waker.clones(), 1U);
  event(readable);
  EXPECT_EQ(waker.count(), 1U);
  EXPECT_TRUE(is_ready(waiter, Interest::readable, waker));
  EXPECT_EQ(waker.clones(), 0U);
}

TEST_F(IoSourceTest, AHundredWaitersAreAllWokenByOneEvent) {
  std::vector<CountingWaker> wakers(100);
  std::vector<ReadinessWaiter> waiters(100);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_FALSE(is_ready(waiters[i], i % 2 != 0 ? Interest::readable : Interest::both, wakers[i]));
  }
  event(readable);
  for (const auto& waker : wakers) EXPECT_EQ(waker.count(), 1U);
}

TEST_F(IoSourceTest, AWaiterThatLeavesIsNotWokenAndItsNeighboursAre) {
  std::vector<CountingWaker> wakers(3);
  ReadinessWaiter first;
  std::optional<ReadinessWaiter> second(std::in_place);
  ReadinessWaiter third;
  ASSERT_FALSE(is_ready(first, Interest::readable, wakers[0]));
  ASSERT_FALSE(is_ready(*second, Interest::readable, wakers[1]));
  ASSERT_FALSE(is_ready(third, Interest::readable, wakers[2]));
  second.reset();
  EXPECT_EQ(wakers[1].clones(), 0U);
  event(readable);
  EXPECT_EQ(wakers[0].count(), 1U);
  EXPECT_EQ(wakers[1].count(), 0U);
  EXPECT_EQ(wakers[2].count(), 1U);
}

TEST_F(IoSourceTest, WhenTheRuntimeEndsAllAreWokenAndNobodyWaitsAnyMore) {
  std::vector<CountingWaker> wakers(40);
  std::vector<ReadinessWaiter> waiters(40);
  CountingWaker reader;
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_FALSE(is_ready(waiters[i], Interest::writable, wakers[i]));
  }
  ASSERT_FALSE(is_ready(Interest::readable, reader));
  source.end();
  for (const auto& waker : wakers) EXPECT_EQ(waker.count(), 1U);
  EXPECT_EQ(reader.count(), 1U);
  EXPECT_TRUE(is_ready(Interest::readable, reader));
  EXPECT_TRUE(is_ready(waiters[0], Interest::writable, wakers[0]));
  source.clear_blocked(source.ready(), Interest::both);
  EXPECT_TRUE(is_ready(Interest::readable, reader)) << "a clear must not take the end back";
}

TEST_F(IoSourceTest, WakingManyEndsAlsoIfEachFindsNothingAndWaitsAgainAtOnce) {
  constexpr int tasks = 100;  // more than are woken at once
  std::vector<ReadinessWaiter> waiters(tasks);
  std::vector<std::unique_ptr<Inline>> all;
  int polls = 0;
  const auto poll = [&](ReadinessWaiter& waiter, Inline& task) {
    ASSERT_LT(++polls, 10 * tasks) << "it goes on for ever";
    const Waker waker = task.waker();
    Context cx(waker);
    Ready ready;
    while (source.poll_ready(waiter, Interest::readable, cx, ready)) {
      source.clear_blocked(ready, Interest::readable);  // another one was faster
    }
  };
  for (std::size_t i = 0; i < tasks; ++i) {
    all.push_back(std::make_unique<Inline>([&, i] {
      if (polls < 10 * tasks) poll(waiters[i], *all[i]);
    }));
    poll(waiters[i], *all[i]);
  }
  polls = 0;
  event(readable);
  EXPECT_EQ(polls, tasks);
  polls = 0;
  event(readable);
  EXPECT_EQ(polls, tasks) << "each waits again";
}

TEST_F(IoSourceTest, AWakerMayTakeTheSourceAwayInTheMidstOfTheWake) {
  ReadinessWaiter waiter;
  const Inline drops([&] { source.retire(); });
  {
    const Waker waker = drops.waker();
    Context cx(waker);
    Ready ready;
    ASSERT_FALSE(source.poll_ready(Interest::readable, cx, ready));
  }
  const std::uint64_t before = source.generation();
  event(readable);
  EXPECT_NE(source.generation(), before);
  EXPECT_FALSE(source.ready().is_readable());
}

TEST_F(IoSourceTest, OfAnEventAndAPollAtTheSameTimeNoneIsLost) {
  constexpr int rounds = 3'000;
  std::atomic<int> told{0};
  std::atomic<int> taken{0};
  std::thread reactor([&] {
    for (int i = 1; i <= rounds; ++i) {
      told.store(i);
      event(i % 3 == 0 ? readable | writable : readable);
      while (taken.load() < i) std::this_thread::yield();
    }
  });
  CountingWaker waker;
  ReadinessWaiter waiter;
  for (int i = 1; i <= rounds; ++i) {
    // In turns one of the two kinds of waiters.
    for (;;) {
      const std::size_t woken = waker.count();
      Context cx(waker.waker());
      Ready ready;
      const bool done = i % 2 != 0 ? source.poll_ready(Interest::readable, cx, ready)
                                   : source.poll_ready(waiter, Interest::readable, cx, ready);
      if (done) {
        const int seen = told.load();
        if (seen < i) {
          source.clear_blocked(ready, Interest::readable);  // news of the round before
          continue;
        }
        source.clear_blocked(ready, Interest::readable);
        break;
      }
      while (waker.count() == woken) std::this_thread::yield();  // for ever: the wake was lost
    }
    taken.store(i);
  }
  reactor.join();
}

using IoSourceDeathTest = IoSourceTest;

TEST_F(IoSourceDeathTest, AWaiterThatWaitsCantBeMoved) {
  CountingWaker waker;
  ReadinessWaiter waiter;
  ASSERT_FALSE(is_ready(waiter, Interest::readable, waker));
  EXPECT_DEATH({ const ReadinessWaiter moved(std::move(waiter)); }, "moved after its first poll");
}

TEST_F(IoSourceDeathTest, OneWakerCantWaitForBothDirections) {
  CountingWaker waker;
  EXPECT_DEATH((void)is_ready(Interest::both, waker), "say Interest::readable or writable");
}

TEST_F(IoSourceDeathTest, ASourceThatAFutureWaitsForCantBeRetired) {
  CountingWaker waker;
  ReadinessWaiter waiter;
  ASSERT_FALSE(is_ready(waiter, Interest::readable, waker));
  EXPECT_DEATH(source.retire(), "destroyed while a future of it still waits");
}

}  // namespace
}  // namespace rouse::io
