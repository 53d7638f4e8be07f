// Room for several messages at once, and room that is waited for by a future that owns its sender.
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

TEST(ReserveMany, GivesRoomForAllAtOnce) {
  auto [tx, rx] = sync::channel<int>(4);
  auto permit = block_on(tx.reserve_many(3));
  EXPECT_EQ(permit.size(), 3U);
  EXPECT_EQ(tx.capacity(), 1U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(permit);
    EXPECT_TRUE(permit.send(i));
  }
  EXPECT_FALSE(permit);
  EXPECT_TRUE(permit.empty());
  EXPECT_FALSE(permit.send(3).has_value());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rx.try_recv(), i);
  EXPECT_EQ(tx.capacity(), 4U);
}

TEST(ReserveMany, GivesBackWhatWasNotUsed) {
  auto [tx, rx] = sync::channel<int>(4);
  {
    auto permit = tx.try_reserve_many(4);
    EXPECT_TRUE(permit.send(1));
    EXPECT_EQ(tx.capacity(), 0U);
  }
  EXPECT_EQ(tx.capacity(), 3U);
  auto moved = tx.try_reserve_many(2);
  auto permit = std::move(moved);
  EXPECT_EQ(permit.size(), 2U);
  EXPECT_EQ(moved.size(), 0U);  // NOLINT(bugprone-use-after-move): it is empty
  permit = sync::SendPermit<int>();
  EXPECT_EQ(tx.capacity(), 3U);
}

TEST(ReserveMany, FailsAtOnceIfThereIsTooLittleRoom) {
  auto [tx, rx] = sync::channel<int>(4);
  ASSERT_TRUE(tx.try_send(0));
  EXPECT_FALSE(tx.try_reserve_many(4));
  EXPECT_EQ(tx.capacity(), 3U);
  EXPECT_TRUE(tx.try_reserve_many(3));
}

TEST(ReserveMany, AChannelGrowsForIt) {
  auto [tx, rx] = sync::channel<std::size_t>(1000);
  ASSERT_TRUE(tx.try_send(0U));
  auto permit = block_on(tx.reserve_many(999));
  for (std::size_t i = 1; i < 1000; ++i) EXPECT_TRUE(permit.send(i));
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(rx.try_recv(), i);
}

TEST(ReserveMany, WaitsUntilThereIsRoomForAllAndOthersWaitBehindIt) {
  auto [tx, rx] = sync::channel<int>(3);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tx.try_send(i));
  PollHarness many(tx.reserve_many(2));
  PollHarness one(tx.send(10));
  EXPECT_TRUE(many.poll().is_pending());
  EXPECT_TRUE(one.poll().is_pending());
  EXPECT_EQ(rx.try_recv(), 0);
  EXPECT_FALSE(many.is_woken());
  EXPECT_FALSE(one.is_woken());  // there would be room for it, but it came later
  EXPECT_FALSE(tx.try_send(11));
  EXPECT_EQ(rx.try_recv(), 1);
  ASSERT_TRUE(many.is_woken());
  auto permit = many.poll().value();
  EXPECT_EQ(permit.size(), 2U);
  EXPECT_FALSE(one.is_woken());
  EXPECT_EQ(rx.try_recv(), 2);
  EXPECT_TRUE(one.is_woken());
  EXPECT_TRUE(one.poll().is_ready());
}

TEST(ReserveMany, OneThatGivesUpLetsThoseBehindItIn) {
  auto [tx, rx] = sync::channel<int>(2);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(tx.try_send(i));
  std::optional<PollHarness<sync::Reserve<int>>> many(std::in_place, tx.reserve_many(2));
  PollHarness one(tx.send(10));
  EXPECT_TRUE(many->poll().is_pending());
  EXPECT_TRUE(one.poll().is_pending());
  EXPECT_EQ(rx.try_recv(), 0);
  EXPECT_FALSE(one.is_woken());
  many.reset();
  EXPECT_TRUE(one.is_woken());
  EXPECT_TRUE(one.poll().is_ready());
  EXPECT_EQ(rx.try_recv(), 1);
  EXPECT_EQ(rx.try_recv(), 10);
}

TEST(ReserveMany, OneThatIsDroppedAfterItWasServedGivesAllBack) {
  auto [tx, rx] = sync::channel<int>(2);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(tx.try_send(i));
  {
    PollHarness many(tx.reserve_many(2));
    EXPECT_TRUE(many.poll().is_pending());
    EXPECT_EQ(rx.try_recv(), 0);
    EXPECT_EQ(rx.try_recv(), 1);
    EXPECT_TRUE(many.is_woken());
    EXPECT_EQ(tx.capacity(), 0U);
  }
  EXPECT_EQ(tx.capacity(), 2U);
}

TEST(ReserveMany, AClosedChannelGivesAnEmptyPermit) {
  auto [tx, rx] = sync::channel<int>(2);
  ASSERT_TRUE(tx.try_send(0));
  PollHarness waits(tx.reserve_many(2));
  EXPECT_TRUE(waits.poll().is_pending());
  rx.close();
  EXPECT_TRUE(waits.is_woken());
  EXPECT_FALSE(waits.poll().value());
  EXPECT_FALSE(block_on(tx.reserve_many(2)));
  EXPECT_FALSE(tx.try_reserve_many(2));
}

TEST(ReserveMany, TheChannelEndsWithTheLastOfIt) {
  auto [tx, rx] = sync::channel<int>(3);
  auto permit = tx.try_reserve_many(3);
  rx.close();
  PollHarness waits(rx.recv());
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_TRUE(permit.send(1));
  EXPECT_EQ(waits.poll().value(), 1);
  PollHarness ends(rx.recv());
  EXPECT_TRUE(ends.poll().is_pending());
  EXPECT_FALSE(rx.has_ended());
  permit = sync::SendPermit<int>();
  EXPECT_TRUE(ends.is_woken());
  EXPECT_FALSE(ends.poll().value().has_value());
  EXPECT_TRUE(rx.has_ended());
}

TEST(ReserveMany, IsCleanWhereverItIsDropped) {
  std::optional<sync::Sender<int>> tx;
  std::optional<sync::Receiver<int>> rx;
  auto make = [&] {
    auto [to, from] = sync::channel<int>(2);
    tx.emplace(std::move(to));
    rx.emplace(std::move(from));
    EXPECT_TRUE(tx->try_send(1));
    return tx->reserve_many(2);
  };
  const auto report = drop_at_each_poll(
      make, [&](std::size_t) { EXPECT_EQ(rx->try_recv(), 1); },
      [&](std::size_t k) { EXPECT_EQ(tx->capacity(), k == 2 ? 2U : 1U); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(ReserveOwned, TheFutureKeepsTheChannelOpen) {
  auto made = sync::channel<int>(1);
  auto& rx = made.second;
  ASSERT_TRUE(made.first.try_send(1));
  auto reserving = made.first.reserve_owned();
  EXPECT_FALSE(internal::future_borrows(reserving));
  {
    const auto gone = std::move(made.first);
  }
  EXPECT_FALSE(rx.is_closed());
  PollHarness waits(std::move(reserving));
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_EQ(rx.try_recv(), 1);
  auto permit = waits.poll().value();
  EXPECT_TRUE(permit.send(2));
  EXPECT_EQ(rx.try_recv(), 2);
}

TEST(ReserveOwned, OnceCompleteThePermitAloneKeepsTheChannelOpen) {
  for (const bool has_to_wait : {false, true}) {
    auto made = sync::channel<int>(1);
    auto& rx = made.second;
    if (has_to_wait) {
      ASSERT_TRUE(made.first.try_send(1));
    }
    PollHarness reserving(made.first.reserve_owned());
    {
      const auto gone = std::move(made.first);
    }
    if (has_to_wait) {
      EXPECT_TRUE(reserving.poll().is_pending());
      EXPECT_EQ(rx.try_recv(), 1);
    }
    auto permit = reserving.poll().value();
    PollHarness receiving(rx.recv());
    EXPECT_TRUE(receiving.poll().is_pending());
    EXPECT_TRUE(permit.send(2));
    EXPECT_EQ(receiving.poll().value(), 2);
    EXPECT_EQ(PollHarness(rx.recv()).poll().value(), std::nullopt);  // `reserving` is still there
  }
}

TEST(ReserveManyDeathTest, MoreThanTheChannelEverHasIsAMistake) {
  auto [tx, rx] = sync::channel<int>(2);
  EXPECT_DEATH((void)tx.reserve_many(3), "1 <= n <= max_capacity");
  EXPECT_DEATH((void)tx.try_reserve_many(0), "1 <= n <= max_capacity");
}

// Threads that reserve one, two and three at a time: each message arrives, in its sender's order.
TEST(ReserveManyStress, EverythingArrivesInOrder) {
  constexpr int rounds = 2000;
  auto [tx, rx] = sync::channel<std::pair<int, int>>(3);
  std::vector<std::thread> senders;
  for (int n = 1; n <= 3; ++n) {
    senders.emplace_back([n, to = tx.clone()] {
      for (int round = 0; round < rounds; ++round) {
        if (round % 7 == 0) {
          auto given_up = to.reserve_many(static_cast<std::size_t>(n));
          Context cx(Waker::noop());
          (void)given_up.poll(cx);
        }
        auto permit = block_on(to.reserve_many(static_cast<std::size_t>(n)));
        for (int i = 0; i < n; ++i) EXPECT_TRUE(permit.send({n, round * n + i}));
      }
    });
  }
  {
    const auto ours = std::move(tx);
  }
  std::vector<int> next(4, 0);
  while (auto message = block_on(rx.recv())) {
    const auto [n, number] = *message;
    EXPECT_EQ(number, next[static_cast<std::size_t>(n)]++);
  }
  for (int n = 1; n <= 3; ++n) EXPECT_EQ(next[static_cast<std::size_t>(n)], n * rounds);
  for (std::thread& sender : senders) sender.join();
}

}  // namespace
