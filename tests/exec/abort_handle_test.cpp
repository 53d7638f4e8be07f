#include "rouse/exec/abort_handle.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"

namespace {

using namespace rouse;

Async<void> wait_forever(std::shared_ptr<int> held) {
  co_await pending_forever<>();
  (void)held;
}
Async<int> give(int value) {
  co_await yield_now();
  co_return value;
}

TEST(AbortHandle, AbortsATaskOfAPoolWhileItsHandleIsAwaited) {
  ThreadPool pool;
  auto held = std::make_shared<int>(1);
  auto task = pool.spawn(wait_forever, held);
  const AbortHandle stop = task.abort_handle();
  EXPECT_EQ(stop.id(), task.id());
  EXPECT_FALSE(stop.is_finished());
  std::thread other([stop] { stop.abort(); });
  EXPECT_THROW(block_on(task), JoinError);
  other.join();
  EXPECT_TRUE(stop.is_finished());
  EXPECT_NE(stop.id(), 0U) << "known also after the join";
  EXPECT_EQ(held.use_count(), 1) << "the future is gone, though the handle is there";
}

TEST(AbortHandle, AbortsATaskOfALocalExecutor) {
  LocalExecutor executor;
  auto held = std::make_shared<int>(1);
  auto task = executor.spawn(wait_forever, held);
  const AbortHandle stop = task.abort_handle();
  executor.run_until(yield_now());
  stop.abort();
  EXPECT_THROW(executor.run_until(task), JoinError);
  EXPECT_TRUE(stop.is_finished());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(AbortHandle, AbortsATaskOfALocalExecutorFromAnotherThread) {
  LocalExecutor executor;
  auto task = executor.spawn(wait_forever, nullptr);
  std::optional<AbortHandle> stop(task.abort_handle());
  std::thread other([stop = std::move(stop)]() mutable {
    stop->abort();
    stop.reset();
  });
  EXPECT_THROW(executor.run_until(task), JoinError);
  other.join();
}

TEST(AbortHandle, AbortsATaskThatWasDetached) {
  ThreadPool pool;
  auto held = std::make_shared<int>(1);
  auto task = pool.spawn(wait_forever, held);
  const AbortHandle stop = task.abort_handle();
  task.detach();
  stop.abort();
  while (!stop.is_finished()) std::this_thread::yield();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(AbortHandle, DoesNothingToATaskThatIsDone) {
  LocalExecutor executor;
  auto task = executor.spawn(give, 7);
  const AbortHandle stop = task.abort_handle();
  executor.run();
  EXPECT_TRUE(stop.is_finished());
  stop.abort();
  EXPECT_EQ(executor.run_until(task), 7);
  stop.abort();
}

TEST(AbortHandle, OutlivesTheExecutor) {
  std::optional<ThreadPool> pool(std::in_place);
  std::optional<LocalExecutor> executor(std::in_place);
  auto of_pool = pool->spawn(wait_forever, nullptr);
  auto of_local = executor->spawn(wait_forever, nullptr);
  const AbortHandle first = of_pool.abort_handle();
  AbortHandle second = of_local.abort_handle();
  pool.reset();
  executor.reset();
  of_pool.detach();
  of_local.detach();
  first.abort();
  second.abort();
  EXPECT_TRUE(first.is_finished());
  EXPECT_TRUE(second.is_finished());
  second = first;
  EXPECT_EQ(second.id(), first.id());
  const AbortHandle moved = std::move(second);
  EXPECT_EQ(second.id(), moved.id());  // NOLINT(bugprone-use-after-move): a move copies
}

TEST(AbortHandle, OfATaskMadeInsideOfIt) {
  LocalExecutor executor;
  auto run = []() -> Async<bool> {
    auto task = spawn(wait_forever, nullptr);
    const AbortHandle stop = task.abort_handle();
    auto aborts = spawn(
        [](AbortHandle other) -> Async<void> {
          other.abort();
          co_return;
        },
        stop);
    co_await aborts;
    try {
      co_await task;
    } catch (const JoinError& error) {
      co_return error.id() == stop.id();
    }
    co_return false;
  };
  EXPECT_TRUE(executor.run_until(run()));
}

// Tasks end, are joined and aborted at the same time, and handles go on other threads.
TEST(AbortHandleStress, AbortsThatRaceWithTheEnd) {
  ThreadPool pool;
  for (int round = 0; round < 300; ++round) {
    std::vector<AbortHandle> handles;
    std::vector<JoinHandle<int>> tasks;
    for (int i = 0; i < 8; ++i) {
      tasks.push_back(pool.spawn(give, i));
      handles.push_back(tasks.back().abort_handle());
    }
    std::thread aborts([handles = std::move(handles)] {
      for (const AbortHandle& handle : handles) handle.abort();
    });
    for (int i = 0; i < 8; ++i) {
      try {
        EXPECT_EQ(block_on(tasks[static_cast<std::size_t>(i)]), i);
      } catch (const JoinError& error) {
        EXPECT_TRUE(error.is_cancelled());
      }
    }
    aborts.join();
  }
}

TEST(AbortHandleDeathTest, OfAJoinedTaskIsAMistake) {
  LocalExecutor executor;
  auto task = executor.spawn(give, 1);
  EXPECT_EQ(executor.run_until(task), 1);
  EXPECT_DEATH((void)task.abort_handle(), "abort_handle\\(\\) of a JoinHandle that was joined");
}

}  // namespace
