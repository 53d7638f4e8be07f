#include "rouse/runtime/tracked_spawn.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/task_tracker.hpp"

namespace {

using namespace rouse;
using sync::TaskTracker;

Async<std::size_t> length_of(const std::string& text) {
  co_await yield_now();
  co_return text.size();
}
Async<void> wait_for(sync::Notify& notify) { co_await notify.notified(); }

TEST(TrackedSpawn, CountsUntilTheTaskHasEnded) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    const TaskTracker tracker;
    auto task = tracker.spawn(length_of, "four");  // converted, and kept by the task
    EXPECT_EQ(tracker.size(), 1U);
    tracker.close();
    co_await tracker.wait();
    EXPECT_EQ(co_await task, 4U);
    EXPECT_TRUE(tracker.empty());
  };
  executor.run_until(run());
}

TEST(TrackedSpawn, TakesAFutureAndALambdaWithCaptures) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    const TaskTracker tracker;
    auto future = [](int value) -> Async<int> { co_return value; };
    auto first = tracker.spawn(future(1));
    auto text = std::make_unique<std::string>("captured");
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): the task owns it
    auto second = tracker.spawn([text = std::move(text)]() -> Async<std::size_t> {
      co_await yield_now();
      co_return text->size();
    });
    EXPECT_EQ(tracker.size(), 2U);
    EXPECT_EQ(co_await first, 1);
    EXPECT_EQ(co_await second, 8U);
    EXPECT_TRUE(tracker.empty());
  };
  executor.run_until(run());
}

TEST(TrackedSpawn, OnASpawnerAndOnTheLocalExecutor) {
  ThreadPool pool;
  const TaskTracker tracker;
  auto task = tracker.spawn_on(pool.spawner(), length_of, std::string("three"));
  EXPECT_EQ(block_on(task), 5U);
  LocalExecutor executor;
  auto run = [](const TaskTracker& of) -> Async<std::size_t> {
    auto here = of.spawn_local(length_of, "ab");
    co_return co_await here;
  };
  EXPECT_EQ(executor.run_until(run(tracker)), 2U);
  tracker.close();
  block_on(tracker.wait());
}

TEST(TrackedSpawn, ATaskThatIsAbortedCountsNoMore) {
  LocalExecutor executor;
  const TaskTracker tracker;
  auto notify = std::make_unique<sync::Notify>();
  auto task = tracker.spawn_on(executor.spawner(), wait_for, std::ref(*notify));
  executor.run_until(yield_now());
  EXPECT_EQ(tracker.size(), 1U);
  task.abort();
  EXPECT_THROW(executor.run_until(task), JoinError);
  EXPECT_TRUE(tracker.empty());
}

TEST(TrackedSpawn, WhatATaskOwnedIsGoneBeforeTheTrackerSaysSo) {
  ThreadPool pool;
  for (int round = 0; round < 200; ++round) {
    const TaskTracker tracker;
    auto owned = std::make_shared<int>(round);
    auto use = [](std::shared_ptr<int> mine) -> Async<int> { co_return *mine; };
    tracker.spawn_on(pool.spawner(), use, owned).detach();
    tracker.close();
    block_on(tracker.wait());
    EXPECT_EQ(owned.use_count(), 1);
  }
}

TEST(TrackedSpawnDeathTest, OutsideOfATaskSaysWhatToDo) {
  const TaskTracker tracker;
  EXPECT_DEATH(tracker.spawn(length_of, "x").detach(), "spawn without an executor");
}

}  // namespace
