// ThreadPool: tasks run, wake each other, are joined and cancelled.
#include "rouse/exec/thread_pool.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/poll_fn.hpp"
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

TEST(ThreadPool, ATaskThatWokeItselfAndThenEndedAnotherIsPolledAgain) {
  // Spawning on a pool that has ended cancels the new task right there, in the midst of this poll.
  const Spawner ended = ThreadPool().spawner();
  ThreadPoolOptions config;
  config.workers = 1;
  const ThreadPool pool(config);
  std::atomic<int> polls{0};
  auto wakes_itself_first = [&](Context& cx) -> Poll<void> {
    if (++polls > 1) return Poll<void>::ready();
    cx.waker().wake_by_ref();
    auto refused = ended.spawn(one);
    EXPECT_TRUE(refused.is_finished());
    return pending;
  };
  auto task = pool.spawn(poll_fn(wakes_itself_first));
  while (polls.load() == 0) std::this_thread::yield();
  EXPECT_EQ(block_on(pool.spawn(one)), 1);  // comes after who woke himself before
  EXPECT_TRUE(task.is_finished()) << "it waits for ever";
  task.abort();
}

}  // namespace
}  // namespace rouse
