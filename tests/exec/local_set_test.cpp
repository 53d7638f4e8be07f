// LocalSet: which tasks stay here, which go to the runtime, and how they meet. A LocalExecutor on
// another thread stands in for the runtime.
#include "rouse/exec/local_set.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {

using namespace internal;
namespace {

using testing::Gate;

/// A LocalExecutor that runs on a thread of its own.
class OtherThread {
 public:
  OtherThread() : thread_([this] { executor_.run_until(stop_.wait()); }) {}
  ~OtherThread() {
    stop_.open();
    thread_.join();
  }
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;

  Spawner spawner() const { return executor_.spawner(); }
  std::thread::id id() const { return thread_.get_id(); }

 private:
  Gate<> stop_;
  LocalExecutor executor_;
  std::thread thread_;
};

Async<std::thread::id> where_it_runs() {
  co_await yield_now();
  co_return std::this_thread::get_id();
}
Async<int> fails_on_set() {
  co_await yield_now();
  throw std::runtime_error("no luck");
}
Async<int> twice(int x) { co_return 2 * x; }

TEST(LocalSet, SpawnGoesToTheRuntimeAndSpawnLocalStaysHere) {
  const OtherThread runtime;
  LocalSet set;
  auto run = [&]() -> Async<void> {
    const auto here = std::this_thread::get_id();
    EXPECT_EQ(co_await spawn(where_it_runs), runtime.id());
    EXPECT_EQ(co_await spawn_local(where_it_runs), here);
    EXPECT_EQ(co_await task::Builder().name("n").spawn(where_it_runs), runtime.id());
    EXPECT_EQ(co_await task::Builder().name("n").spawn_local(where_it_runs), here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  };
  set.block_on(runtime, run());
}

TEST(LocalSet, TheSameHoldsInsideItsTasks) {
  const OtherThread runtime;
  LocalSet set;
  auto task = [](std::thread::id elsewhere) -> Async<bool> {
    const auto spawned = co_await spawn(where_it_runs);
    const auto local = co_await spawn_local(where_it_runs);
    co_return spawned == elsewhere&& local == std::this_thread::get_id();
  };
  auto spawned_before = set.spawn_local(task, runtime.id());
  EXPECT_TRUE(set.block_on(runtime, spawned_before));
  auto spawns = [&]() -> Async<bool> { co_return co_await spawn_local(task, runtime.id()); };
  EXPECT_TRUE(set.block_on(runtime, spawns()));
}

TEST(LocalSet, WithoutARuntimeBothStayHere) {
  LocalSet set;
  auto run = []() -> Async<void> {
    const auto here = std::this_thread::get_id();
    EXPECT_EQ(co_await spawn(where_it_runs), here);
    EXPECT_EQ(co_await spawn_local(where_it_runs), here);
  };
  set.run_until(run());
}

TEST(LocalSet, TasksOnBothSidesAwaitEachOther) {
  const OtherThread runtime;
  LocalSet set;
  int local_counter = 0;  // no lock: only this thread touches it
  auto local = [&local_counter](int x) -> Async<int> {
    ++local_counter;
    co_return co_await spawn(twice, x);
  };
  auto remote = [](JoinHandle<int> handle) -> Async<int> { co_return co_await handle + 1; };
  auto run = [&]() -> Async<int> {
    int sum = 0;
    for (int i = 0; i < 200; ++i) {
      // A task of the runtime awaits one of the set, which awaits one of the runtime.
      sum += co_await spawn(remote, spawn_local(local, i));
    }
    co_return sum;
  };
  EXPECT_EQ(set.block_on(runtime, run()), 200 * 199 + 200);
  EXPECT_EQ(local_counter, 200);
}

TEST(LocalSet, IsWokenFromOtherThreadsWhileItSleeps) {
  const OtherThread runtime;
  LocalSet set;
  Gate<int> gate;
  auto opens = [&gate]() -> Async<void> {
    gate.open(5);
    co_return;
  };
  auto run = [&]() -> Async<int> {
    auto opener = spawn(opens);
    const int opened = co_await gate.wait();
    co_await opener;
    co_return opened;
  };
  EXPECT_EQ(set.block_on(runtime, run()), 5);
}

TEST(LocalSet, TasksThatAreLeftGoOnWithTheNextCall) {
  const OtherThread runtime;
  LocalSet set;
  Gate<> gate;
  int steps = 0;
  auto task = [&]() -> Async<void> {
    ++steps;
    co_await gate.wait();
    ++steps;
  };
  auto handle = set.spawn_local(task);
  EXPECT_EQ(steps, 0);
  set.block_on(runtime, yield_now());
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(set.live_tasks(), 1U);
  gate.open();
  EXPECT_EQ(steps, 1);
  set.run_until(handle);
  EXPECT_EQ(steps, 2);
}

TEST(LocalSet, ThrowsWhatTheFutureThrowsAndCanBeUsedAgain) {
  const OtherThread runtime;
  LocalSet set;
  EXPECT_THROW(set.block_on(runtime, fails_on_set()), std::runtime_error);
  EXPECT_EQ(set.block_on(runtime, twice(4)), 8);
}

TEST(LocalSet, LeavesTheThreadAsItWas) {
  const OtherThread runtime;
  LocalSet set;
  set.block_on(runtime, yield_now());
  EXPECT_EQ(Scheduler::current(), nullptr);
  EXPECT_EQ(task::id(), 0U);
}

TEST(LocalSet, DestroysTheTasksThatAreLeft) {
  auto value = std::make_shared<int>(1);
  auto task = [](std::shared_ptr<int>) -> Async<void> { co_await pending_forever<>(); };
  {
    LocalSet set;
    auto handle = set.spawn_local(task, value);
    set.run_until(yield_now());
    EXPECT_EQ(value.use_count(), 2);
    handle.detach();
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(LocalSet, ATaskSpawnedOnARuntimeThatIsGoneIsCancelled) {
  struct Gone {
    Spawner spawner() const { return LocalExecutor().spawner(); }
  };
  LocalSet set;
  auto run = []() -> Async<int> { co_return co_await spawn(twice, 1); };
  EXPECT_THROW(set.block_on(Gone(), run()), JoinError);
}

TEST(LocalSet, AnExceptionNobodyJoinsGoesToItsHook) {
  LocalSet set;
  std::vector<std::string> names;
  set.on_unhandled([&](const UnhandledException& error) { names.push_back(error.name); });
  auto run = []() -> Async<void> {
    task::Builder().name("careless").spawn_local(fails_on_set).detach();
    for (int i = 0; i < 3; ++i) co_await yield_now();
  };
  set.run_until(run());
  EXPECT_EQ(names, std::vector<std::string>{"careless"});
}

TEST(LocalSetDeathTest, InsideATaskItSaysWhatToDo) {
  LocalExecutor executor;
  auto blocks = []() -> Async<void> {
    LocalSet set;
    set.run_until(yield_now());
    co_return;
  };
  EXPECT_DEATH(executor.run_until(blocks()), "a blocking call inside a task.*LocalSet::block_on");
}

}  // namespace
}  // namespace rouse
