// ThreadPool: tasks run, wake each other, are joined and cancelled.
#include "rouse/exec/thread_pool.hpp"

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/yield_now.hpp"

namespace rouse {
namespace {

Async<int> one() { co_return 1; }
Async<int> sum_of(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await spawn(one);
  co_return sum;
}

TEST(ThreadPool, ATaskIsJoinedFromOutside) {
  const ThreadPool pool;
  EXPECT_EQ(block_on(pool.spawn(one)), 1);
}

TEST(ThreadPool, TasksSpawnTasksAndJoinThem) {
  const ThreadPool pool;
  EXPECT_EQ(block_on(pool.spawn(sum_of, 10'000)), 10'000);
}

}  // namespace
}  // namespace rouse
