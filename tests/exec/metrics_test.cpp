// What the metrics of executors say, each with a figure that is certain.
#include <chrono>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"

namespace rouse {
namespace {

ThreadPoolOptions single_worker() {
  ThreadPoolOptions options;
  options.workers = 1;
  return options;
}

Async<void> ends_at_once() { co_return; }

Async<void> yields_often(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}

/// Takes so many steps, each of a budget.
auto takes_steps(unsigned steps) {
  return poll_fn([left = steps](Context& cx) mutable -> Poll<void> {
    for (; left != 0; --left) {
      if (!cx.take_budget()) return pending;
    }
    return Poll<void>::ready();
  });
}

TEST(Metrics, ATaskThatYieldsIsPolledOnceMoreForEach) {
  ThreadPool pool(single_worker());
  block_on(pool.spawn(yields_often, 10));
  EXPECT_EQ(pool.metrics().workers[0].polls, 11U);
}

TEST(Metrics, WhatComesFromOutsideIsInjected) {
  ThreadPool pool(single_worker());
  for (int i = 0; i < 3; ++i) block_on(pool.spawn(ends_at_once));
  EXPECT_EQ(pool.metrics().injected_tasks, 3U);
  // What a task spawns on its own worker is not.
  block_on(pool.spawn([]() -> Async<void> { co_await spawn(ends_at_once); }));
  EXPECT_EQ(pool.metrics().injected_tasks, 4U);
}

/// Wakes a task with the third sleep only.
class ThirdTime final : public Park {
 public:
  void park(std::chrono::nanoseconds) override {
    if (++parks == 3) waker.wake_by_ref();
  }
  void unpark() noexcept override {}
  int parks = 0;
  Waker waker;
};

TEST(Metrics, AWorkerThatWakesAndPollsNothingHadAnIdleWake) {
  ThirdTime park;
  LocalExecutor executor(park);
  executor.run_until(poll_fn([&](Context& cx) -> Poll<void> {
    if (park.parks == 3) return Poll<void>::ready();
    park.waker = cx.waker();
    return pending;
  }));
  EXPECT_EQ(executor.metrics().workers[0].parks, 3U);
  EXPECT_EQ(executor.metrics().workers[0].idle_wakes, 2U);
  park.waker = Waker();
}

TEST(Metrics, ABudgetThatIsUsedUpIsCounted) {
  for (const unsigned times : {0U, 1U, 3U}) {
    ThreadPool pool(single_worker());
    block_on(pool.spawn(takes_steps(Context::task_budget * (times + 1))));
    EXPECT_EQ(pool.metrics().workers[0].budgets_used_up, times);
    EXPECT_EQ(pool.metrics().workers[0].polls, times + 1);

    LocalExecutor local;
    local.run_until(takes_steps(Context::task_budget * (times + 1)));
    EXPECT_EQ(local.metrics().workers[0].budgets_used_up, times);
  }
}

TEST(Metrics, BlockingCallsAreCounted) {
  BlockingPool pool;
  for (int i = 0; i < 3; ++i) block_on(pool.spawn([] {}));
  EXPECT_EQ(pool.metrics().calls, 3U);
}

TEST(Metrics, TheMeanPollIsKnownOnceAWorkerHasSlept) {
  LocalExecutor executor;
  EXPECT_EQ(executor.metrics().workers[0].mean_poll.count(), 0);
  executor.spawn(ends_at_once).detach();
  executor.run();
  EXPECT_GT(executor.metrics().workers[0].mean_poll.count(), 0);
}

}  // namespace
}  // namespace rouse
