// Pool on several threads.
#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/pool.hpp"
#include "rouse/runtime/pool_options.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/timeout.hpp"

#include "runtime/pool_world.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace std::chrono_literals;

Async<void> use_often(Pool<Cleaning> pool, int times, std::atomic<int>& served) {
  for (int i = 0; i < times; ++i) {
    auto lent = co_await timeout((i % 7) * 10us, pool.take()).result();
    if (!lent) continue;
    auto& connection = *lent.value();
    connection.uses += 1;
    if (i % 3 == 0) co_await yield_now();
    EXPECT_EQ(connection.uses, 1) << "one borrower at a time, and none gets a dirty one";
    if (i % 5 != 0) {
      connection.uses = 0;
      if (i % 11 == 0) connection.is_open = false;
      lent->mark_clean();
    }
    ++served;
  }
}

TEST(PoolStress, NoConnectionIsLostOrLentTwice) {
  const auto world = std::make_shared<World>();
  const Pool<Cleaning> pool(Cleaning(world), PoolOptions().max_open(3).max_waiting(5));
  std::atomic<int> served{0};
  {
    Runtime runtime = Runtime::builder().worker_threads(4).build();
    auto run = [&]() -> Async<void> {
      std::vector<JoinHandle<>> tasks;
      for (int i = 0; i < 8; ++i) tasks.push_back(spawn(use_often, pool, 3000, std::ref(served)));
      for (auto& task : tasks) co_await task;
    };
    runtime.block_on(run());
    EXPECT_LE(world->most_alive, 3);
    EXPECT_EQ(pool.metrics().waiting, 0U);
    EXPECT_EQ(pool.metrics().lent, 0U);
  }
  EXPECT_GT(served, 500);
  EXPECT_EQ(world->alive, 0);
  EXPECT_EQ(pool.metrics().open, 0U);
}

}  // namespace
