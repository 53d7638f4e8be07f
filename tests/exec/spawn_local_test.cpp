// spawn_local: on the executor that this thread runs, and nowhere else.
#include "rouse/exec/spawn_local.hpp"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/yield_now.hpp"

namespace rouse {
namespace {

Async<std::size_t> length(const std::string& text) {
  co_await yield_now();
  co_return text.size();
}
Async<std::thread::id> this_thread_id() {
  co_await yield_now();
  co_return std::this_thread::get_id();
}

TEST(SpawnLocal, RunsOnTheExecutorOfThisThread) {
  LocalExecutor executor;
  auto run = []() -> Async<bool> {
    const auto where = co_await spawn_local(this_thread_id);
    co_return where == std::this_thread::get_id();
  };
  EXPECT_TRUE(executor.run_until(run()));
}

TEST(SpawnLocal, OwnsItsArgumentsAsSpawnDoes) {
  LocalExecutor executor;
  auto run = []() -> Async<std::size_t> {
    auto task = spawn_local(length, "three");
    co_return co_await task;
  };
  EXPECT_EQ(executor.run_until(run()), 5U);
}

TEST(SpawnLocal, TakesAFuture) {
  LocalExecutor executor;
  auto run = []() -> Async<void> { co_await spawn_local(yield_now()); };
  executor.run_until(run());
}

TEST(SpawnLocalDeathTest, OutsideOfAnExecutorItSaysWhatToDo) {
  EXPECT_DEATH(spawn_local(this_thread_id).detach(),
               "spawn_local outside of a LocalExecutor or LocalSet");
  auto inside_block_on = []() -> Async<void> {
    spawn_local(this_thread_id).detach();
    co_return;
  };
  EXPECT_DEATH(block_on(inside_block_on()), "spawn_local outside of a LocalExecutor or LocalSet");
}

TEST(SpawnLocalDeathTest, AFutureThatBorrowsIsRefused) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    const std::string text = "gone before the task";
    spawn_local(length(text)).detach();
    co_return;
  };
  EXPECT_DEATH(executor.run_until(run()), "spawn of a coroutine that borrows.*length");
}

}  // namespace
}  // namespace rouse
