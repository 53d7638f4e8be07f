// Pool: who waits in line, who is served, and what becomes of those who leave.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/runtime/pool.hpp"
#include "rouse/runtime/pool_options.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

#include "runtime/pool_world.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace std::chrono_literals;

TEST(Pool, FirstComeFirstServed) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    std::optional<Pooled<Connection>> lent(co_await pool.take());
    std::vector<int> order;
    auto wait = [](Pool<Plain> from, int who, std::vector<int>& list) -> Async<void> {
      auto got = co_await from.take();
      list.push_back(who);
      co_await yield_now();
      got.mark_clean();
    };
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(spawn(wait, pool, i, std::ref(order)));
      co_await let_others_run();
    }
    EXPECT_EQ(pool.metrics().waiting, 4U);
    lent->mark_clean();
    lent.reset();
    rouse::testing::PollHarness late(pool.take());
    EXPECT_TRUE(late.poll().is_pending()) << "nobody overtakes those who wait";
    for (auto& task : tasks) co_await task;
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
    EXPECT_TRUE(late.poll().is_ready());
    EXPECT_EQ(world->made, 1);
  });
}

TEST(Pool, WhoIsGivenAClosedConnectionStaysTheFirstInLine) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    std::optional<Pooled<Connection>> lent(co_await pool.take());
    rouse::testing::PollHarness first(pool.take());
    EXPECT_TRUE(first.poll().is_pending());
    rouse::testing::PollHarness second(pool.take());
    EXPECT_TRUE(second.poll().is_pending());
    (*lent)->is_open = false;
    lent->mark_clean();
    lent.reset();
    EXPECT_TRUE(first.poll().is_pending()) << "the janitor has yet to close it";
    co_await let_others_run();
    EXPECT_FALSE(second.is_woken());
    EXPECT_TRUE(first.poll().is_ready());
  });
}

TEST(Pool, ATakeEndsAfterItsTimeoutOrAtTheDeadline) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    const auto lent = co_await pool.take();
    const auto begin = time::now();
    EXPECT_EQ(co_await error_of_take(pool), std::errc::timed_out);
    EXPECT_EQ(time::now() - begin, 5s);
    EXPECT_EQ(co_await with_deadline(1s, error_of_take(pool)), DeadlineError::passed);
    EXPECT_EQ(time::now() - begin, 6s);
    EXPECT_EQ(pool.metrics().waiting, 0U);
  });
}

TEST(Pool, AConnectThatHangsEndsWithTheTimeoutOfTheTake) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    world->connect_takes = 1h;
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1).take_timeout(3s));
    EXPECT_EQ(co_await error_of_take(pool), std::errc::timed_out);
    EXPECT_EQ(pool.metrics().open, 0U);
    EXPECT_EQ(pool.metrics().failed_opens, 1U);
    const Pool<Plain> patient(Plain(world), PoolOptions().no_take_timeout());
    EXPECT_EQ(co_await take_and_give_back(patient), 1);
  });
}

TEST(Pool, TheLineHasABound) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1).max_waiting(1));
    const auto lent = co_await pool.take();
    rouse::testing::PollHarness waits(pool.take());
    EXPECT_TRUE(waits.poll().is_pending());
    const std::error_code refused = co_await error_of_take(pool);
    EXPECT_EQ(refused, PoolError::line_full);
    EXPECT_EQ(refused, std::errc::resource_unavailable_try_again);
    EXPECT_EQ(pool.metrics().refusals, 1U);
  });
}

TEST(Pool, AFailureToConnectGoesToTheOneWhoConnectsAndTheNextTries) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    world->connect_takes = 1s;
    world->fails = 2;
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    std::vector<JoinHandle<std::error_code>> tasks;
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(spawn(error_of_take<Plain>, pool));
      co_await let_others_run();
    }
    std::vector<std::error_code> errors;
    for (auto& task : tasks) errors.push_back(co_await task);
    EXPECT_EQ(errors[0], std::errc::connection_refused);
    EXPECT_EQ(errors[1], std::errc::connection_refused);
    EXPECT_FALSE(errors[2]);
    EXPECT_FALSE(errors[3]);
    EXPECT_EQ(world->attempts, 4) << "one at a time; what comes back dirty is not lent";
    EXPECT_EQ(world->most_alive, 1);
  });
}

TEST(Pool, ADroppedTakeGivesUpItsPlaceWhereverItIs) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    std::optional<Pooled<Connection>> lent(co_await pool.take());
    const auto report = rouse::testing::drop_at_each_poll([&] { return pool.take(); },
                                                          [&](std::size_t) {
                                                            if (!lent) return;
                                                            lent->mark_clean();
                                                            lent.reset();
                                                          },
                                                          [&](std::size_t) {
                                                            const ConnectionMetrics metrics =
                                                                pool.metrics();
                                                            EXPECT_EQ(metrics.waiting, 0U);
                                                            EXPECT_EQ(metrics.open, 1U);
                                                          });
    EXPECT_EQ(report.polls, 2U);
    EXPECT_EQ(report.wakers_left, 0U);
  });
}

TEST(Pool, ADroppedTakeGivesUpTheConnectionThatItOpens) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    world->connect_takes = 1s;
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    {
      rouse::testing::PollHarness opens(pool.take());
      EXPECT_TRUE(opens.poll().is_pending());
      EXPECT_EQ(pool.metrics().opening, 1U);
    }
    EXPECT_EQ(pool.metrics().open, 0U);
    std::optional<rouse::testing::PollHarness<TimeoutOrDeadline<PoolTake<Plain>>>> opens;
    opens.emplace(pool.take());
    EXPECT_TRUE(opens->poll().is_pending());
    rouse::testing::PollHarness next(pool.take());
    EXPECT_TRUE(next.poll().is_pending());
    opens.reset();
    EXPECT_TRUE(next.is_woken()) << "the place goes to the next in line";
    EXPECT_TRUE(next.poll().is_pending());
    co_await sleep(2s);
    EXPECT_TRUE(next.poll().is_ready());
  });
}

TEST(Pool, WhatADroppedTakeWasGivenGoesToTheNext) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    std::optional<Pooled<Connection>> lent(co_await pool.take());
    std::optional<rouse::testing::PollHarness<TimeoutOrDeadline<PoolTake<Plain>>>> first;
    first.emplace(pool.take());
    EXPECT_TRUE(first->poll().is_pending());
    rouse::testing::PollHarness second(pool.take());
    EXPECT_TRUE(second.poll().is_pending());
    lent->mark_clean();
    lent.reset();
    EXPECT_TRUE(first->is_woken());
    EXPECT_FALSE(second.is_woken());
    first.reset();
    EXPECT_TRUE(second.is_woken());
    auto got = second.poll();
    EXPECT_TRUE(got.is_ready());
    EXPECT_EQ(got.value()->id, 1);
  });
}

TEST(Pool, CloseRefusesAllWhoWaitAndEndsWhatIsIdle) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(2));
    EXPECT_EQ(co_await take_and_give_back(pool), 1);
    std::optional<Pooled<Connection>> lent(co_await pool.take());
    world->connect_takes = 1s;
    auto opens = spawn(error_of_take<Plain>, pool);
    co_await let_others_run();
    auto waits = spawn(error_of_take<Plain>, pool);
    co_await let_others_run();
    pool.close();
    EXPECT_TRUE(pool.is_closed());
    EXPECT_EQ(co_await waits, PoolError::closed);
    EXPECT_EQ(co_await opens, PoolError::closed);
    EXPECT_EQ(co_await error_of_take(pool), std::errc::operation_canceled);
    EXPECT_EQ(world->alive, 1);
    lent->mark_clean();
    lent.reset();
    co_await let_others_run();
    EXPECT_EQ(world->alive, 0);
    EXPECT_EQ(world->closed_by_others, 0);
    EXPECT_EQ(pool.metrics().open, 0U);
  });
}

}  // namespace
