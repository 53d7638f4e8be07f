// Pool: what is lent, and what becomes of what comes back.
#include "rouse/runtime/pool.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/runtime/pool_options.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

#include "runtime/pool_world.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace std::chrono_literals;

TEST(Pool, LendsAgainWhatCameBackClean) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool{Plain(world)};
    EXPECT_EQ(world->attempts, 0) << "opens nothing before it is needed";
    {
      auto lent = co_await pool.take();
      EXPECT_FALSE(lent.is_reused());
      EXPECT_EQ(pool.metrics().lent, 1U);
      lent.mark_clean();
    }
    EXPECT_EQ(pool.metrics().idle, 1U);
    auto again = co_await pool.take();
    EXPECT_TRUE(again.is_reused());
    EXPECT_EQ(again->id, 1);
    EXPECT_EQ(world->made, 1);
    EXPECT_EQ(pool.metrics().lends, 2U);
  });
}

TEST(Pool, TheLastOneUsedIsLentFirst) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool{Plain(world)};
    {
      auto first = co_await pool.take();
      auto second = co_await pool.take();
      auto third = co_await pool.take();
      first.mark_clean();
      second.mark_clean();
      third.mark_clean();
    }  // in the order third, second, first
    auto lent = co_await pool.take();
    EXPECT_EQ(lent->id, 1);
    auto next = co_await pool.take();
    EXPECT_EQ(next->id, 2);
  });
}

TEST(Pool, ADirtyConnectionIsClosedByTheJanitorAndNeverLent) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    {
      auto lent = co_await pool.take();
      ++lent->uses;
    }
    EXPECT_EQ(world->alive, 1) << "no destructor of a borrower closes it";
    EXPECT_EQ(pool.metrics().tidying, 1U);
    auto next = co_await pool.take();
    EXPECT_EQ(next->id, 2);
    EXPECT_EQ(world->most_alive, 1) << "its place is taken until it is closed";
    EXPECT_EQ(world->closed_by_others, 0);
  });
}

TEST(Pool, ADirtyConnectionIsCleanedByTheJanitor) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    world->clean_takes = 1s;
    const Pool<Cleaning> pool(Cleaning(world), PoolOptions().max_open(1));
    {
      auto lent = co_await pool.take();
      ++lent->uses;
    }
    const auto begin = time::now();
    auto next = co_await pool.take();
    EXPECT_EQ(time::now() - begin, 1s);
    EXPECT_EQ(next->id, 1);
    EXPECT_EQ(next->uses, 0);
    EXPECT_EQ(pool.metrics().cleaned, 1U);
  });
}

TEST(Pool, WhatCanNotBeCleanedInTimeIsClosed) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Cleaning> pool(Cleaning(world), PoolOptions().max_open(1));
    world->clean_takes = 1h;
    {
      const auto lent = co_await pool.take();
    }
    const auto begin = time::now();
    EXPECT_EQ(co_await take_and_give_back(pool), 2);
    EXPECT_EQ(time::now() - begin, 2s);
    world->clean_takes = 0s;
    world->clean_works = false;
    {
      const auto lent = co_await pool.take();
    }
    EXPECT_EQ(co_await take_and_give_back(pool), 3);
    EXPECT_EQ(pool.metrics().cleaned, 0U);
    EXPECT_EQ(world->closed_by_others, 0);
  });
}

TEST(Pool, OneThatIsCleanedSlowlyHoldsUpNoOther) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    world->clean_takes = 1s;
    const Pool<Cleaning> pool(Cleaning(world), PoolOptions().max_open(3));
    {
      const auto first = co_await pool.take();
      const auto second = co_await pool.take();
      const auto third = co_await pool.take();
    }
    co_await sleep(1500ms);
    EXPECT_EQ(pool.metrics().idle, 3U);
  });
}

TEST(Pool, WhoeverUsesACleanConnectionMakesItDirty) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool{Plain(world)};
    {
      auto lent = co_await pool.take();
      lent.mark_clean();
      ++lent->uses;
    }
    EXPECT_EQ(pool.metrics().idle, 0U);
  });
}

TEST(Pool, TheProtocolMaySayThatAConnectionIsClean) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool{Plain(world)};
    {
      auto lent = co_await pool.take();
      lent->is_between_requests = true;
    }
    EXPECT_EQ(pool.metrics().idle, 1U);
  });
}

TEST(Pool, AnIdleConnectionThatIsNoLongerOpenIsNotLent) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(2));
    {
      auto first = co_await pool.take();
      auto second = co_await pool.take();
      first->is_open = false;
      first.mark_clean();
      second->is_open = false;
      second.mark_clean();
    }
    auto lent = co_await pool.take();
    EXPECT_EQ(lent->id, 3);
    EXPECT_EQ(world->most_alive, 2);
    EXPECT_EQ(world->closed_by_others, 0);
  });
}

TEST(Pool, WhatIsIdleForTooLongIsClosed) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().idle_timeout(1min));
    {
      auto first = co_await pool.take();
      auto second = co_await pool.take();
      auto third = co_await pool.take();
      first.mark_clean();
      second.mark_clean(10s);
      third.mark_clean(0s);
    }
    co_await let_others_run();
    EXPECT_EQ(world->alive, 2);
    co_await sleep(11s);
    EXPECT_EQ(world->alive, 1);
    EXPECT_EQ(co_await take_and_give_back(pool), 1);
    co_await sleep(59s);
    EXPECT_EQ(world->alive, 1) << "it was used meanwhile";
    co_await sleep(2s);
    EXPECT_EQ(world->alive, 0);
    EXPECT_EQ(world->closed_by_others, 0);
    EXPECT_EQ(pool.metrics().closed, 3U);
  });
}

TEST(Pool, AnOldConnectionIsClosedAndThoseOfOneAgeNotAtOnce) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const auto forever = std::chrono::nanoseconds::max();
    const Pool<Plain> pool(Plain(world),
                           PoolOptions().max_open(50).lifetime(1000s).idle_timeout(forever));
    {
      std::vector<Pooled<Connection>> all;
      for (int i = 0; i < 50; ++i) {
        auto lent = co_await pool.take();
        lent.mark_clean();
        all.push_back(std::move(lent));
      }
    }
    co_await sleep(899s);
    EXPECT_EQ(world->alive, 50);
    std::set<int> sizes;
    for (int i = 0; i < 20; ++i) {
      co_await sleep(10s);
      sizes.insert(world->alive);
    }
    EXPECT_GE(sizes.size(), 5U);
    co_await sleep(2s);
    EXPECT_EQ(world->alive, 0);
  });
}

TEST(Pool, AnOldConnectionIsNotLentAgainAlsoIfItWasNeverIdle) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Cleaning> pool(Cleaning(world), PoolOptions().lifetime(100s));
    {
      auto lent = co_await pool.take();
      co_await sleep(111s);
      lent.mark_clean();
    }
    EXPECT_EQ(co_await take_and_give_back(pool), 2);
    EXPECT_EQ(pool.metrics().cleaned, 0U);
  });
}

TEST(Pool, TheLastHandleThatGoesClosesIt) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    std::optional<Pool<Plain>> pool(std::in_place, Plain(world), PoolOptions().max_open(1));
    std::optional<Pooled<Connection>> lent(co_await pool->take());
    auto waits = spawn(pool->take());
    co_await let_others_run();
    pool.reset();
    lent->mark_clean();
    lent.reset();
    {
      auto got = co_await waits;
      EXPECT_EQ(got->id, 1) << "who waits holds it open";
      got.mark_clean();
    }
    co_await let_others_run();
    EXPECT_EQ(world->alive, 0);
  });
}

TEST(Pool, IntoInnerTakesAConnectionOutOfThePool) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool(Plain(world), PoolOptions().max_open(1));
    auto lent = co_await pool.take();
    const Connection mine = std::move(lent).into_inner();
    EXPECT_EQ(mine.id, 1);
    EXPECT_EQ(pool.metrics().open, 0U);
    EXPECT_EQ(co_await take_and_give_back(pool), 2);
  });
}

TEST(Pool, ConnectionsEndWithTheRuntimeAndThePoolServesTheNext) {
  const auto world = std::make_shared<World>();
  const Pool<Plain> pool{Plain(world)};
  std::optional<Pooled<Connection>> lent;
  {
    Runtime runtime = Runtime::builder().current_thread().build();
    runtime.block_on([](Pool<Plain> from, std::optional<Pooled<Connection>>& kept) -> Async<void> {
      kept.emplace(co_await from.take());
      co_await take_and_give_back(from);
    }(pool, lent));
    EXPECT_EQ(world->alive, 2);
  }
  EXPECT_EQ(world->alive, 1) << "what was idle is closed";
  lent->mark_clean();
  lent.reset();
  EXPECT_EQ(world->alive, 0);
  EXPECT_EQ(pool.metrics().open, 0U);
  Runtime runtime = Runtime::builder().current_thread().build();
  EXPECT_EQ(runtime.block_on(take_and_give_back(pool)), 3);
}

TEST(PoolDeathTest, ATakeIsNotPolledAfterItWasReady) {
  run_with_world([](std::shared_ptr<World> world) -> Async<void> {
    const Pool<Plain> pool{Plain(world)};
    rouse::testing::PollHarness take(pool.take());
    const auto lent = take.poll();
    EXPECT_TRUE(lent.is_ready());
    co_await let_others_run();
    EXPECT_DEATH(static_cast<void>(take.poll()), "polled again after it was ready");
    EXPECT_DEATH(PoolOptions().max_open(0), "allow at least 1");
  });
}

}  // namespace
