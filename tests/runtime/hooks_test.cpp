// The hooks of a runtime: when threads sleep, and when tasks begin and end.
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

namespace {

using namespace rouse;

RuntimeBuilder builder_of(bool current_thread) {
  RuntimeBuilder builder = Runtime::builder();
  if (current_thread) {
    builder.current_thread();
  } else {
    builder.worker_threads(2);
  }
  return builder;
}

/// What the hooks were told.
class Log {
 public:
  void spawned(const TaskMeta& task) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(alive_.emplace(task.id, std::string(task.name)).second) << "spawned once";
    lines_.push_back(task.spawned_at.line());
    names_.emplace_back(task.name);
  }
  void terminated(const TaskMeta& task) {
    const std::scoped_lock lock(mutex_);
    const auto found = alive_.find(task.id);
    ASSERT_NE(found, alive_.end()) << "ended once, and not before it was spawned";
    EXPECT_EQ(found->second, task.name);
    alive_.erase(found);
  }
  std::size_t alive() {
    const std::scoped_lock lock(mutex_);
    return alive_.size();
  }
  bool is_alive(TaskId id) {
    const std::scoped_lock lock(mutex_);
    return alive_.contains(id);
  }
  std::vector<std::string> names() {
    const std::scoped_lock lock(mutex_);
    return names_;
  }
  void hook(RuntimeBuilder& builder) {
    builder.on_task_spawn([this](const TaskMeta& task) { spawned(task); });
    builder.on_task_terminate([this](const TaskMeta& task) { terminated(task); });
  }

 private:
  std::mutex mutex_;
  std::map<TaskId, std::string> alive_;
  std::vector<std::string> names_;
  std::vector<unsigned> lines_;
};

class Hooks : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OnBothRuntimes, Hooks, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Local" : "Pool"; });

Async<int> give_after_a_yield(int value) {
  co_await yield_now();
  if (value < 0) throw std::runtime_error("negative");
  co_return value;
}

TEST_P(Hooks, TellOfEachTaskItsIdAndName) {
  Log log;
  RuntimeBuilder builder = builder_of(GetParam());
  log.hook(builder);
  Runtime runtime = builder.build();
  auto run = [&]() -> Async<void> {
    EXPECT_TRUE(log.is_alive(task::id()));
    auto named = task::Builder().name("resolver").spawn(give_after_a_yield, 1);
    const TaskId id = named.id();
    EXPECT_EQ(co_await named, 1);
    EXPECT_FALSE(log.is_alive(id)) << "told before it can be joined";
  };
  runtime.block_on(run());
  EXPECT_EQ(log.names(), (std::vector<std::string>{"", "resolver"}));
  EXPECT_EQ(log.alive(), 0U);
}

TEST_P(Hooks, TellOfTasksThatThrowAreAbortedOrSweptAway) {
  Log log;
  {
    RuntimeBuilder builder = builder_of(GetParam());
    log.hook(builder);
    Runtime runtime = builder.build();
    auto run = [&]() -> Async<void> {
      auto throws = spawn(give_after_a_yield, -1);
      bool caught = false;
      try {
        co_await throws;
      } catch (const std::runtime_error&) {
        caught = true;
      }
      EXPECT_TRUE(caught);
      auto waits = []() -> Async<void> { co_await pending_forever<>(); };
      auto aborted = spawn(waits);
      aborted.abort();
      caught = false;
      try {
        co_await aborted;
      } catch (const JoinError&) {
        caught = true;
      }
      EXPECT_TRUE(caught);
      EXPECT_EQ(log.alive(), 1U);
      spawn(waits).detach();
    };
    runtime.block_on(run());
    EXPECT_EQ(log.alive(), 1U);
  }
  EXPECT_EQ(log.alive(), 0U) << "the end of the runtime ends the last";
}

TEST_P(Hooks, TellOfTasksThatOtherThreadsSpawn) {
  Log log;
  RuntimeBuilder builder = builder_of(GetParam());
  log.hook(builder);
  Runtime runtime = builder.build();
  std::vector<JoinHandle<int>> tasks;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) tasks.push_back(runtime.spawn(give_after_a_yield, i));
  });
  other.join();
  auto join_them = [&]() -> Async<int> {
    int sum = 0;
    for (auto& task : tasks) sum += co_await task;
    co_return sum;
  };
  EXPECT_EQ(runtime.block_on(join_them()), 4950);
  EXPECT_EQ(log.names().size(), 101U);
  EXPECT_EQ(log.alive(), 0U);
}

TEST_P(Hooks, AreNotToldOfBlockingCalls) {
  Log log;
  RuntimeBuilder builder = builder_of(GetParam());
  log.hook(builder);
  Runtime runtime = builder.build();
  auto call = runtime.spawn_blocking([] { return 1; });
  EXPECT_EQ(block_on(call), 1);
  EXPECT_TRUE(log.names().empty());
}

TEST_P(Hooks, OneOfTheTwoIsEnough) {
  std::atomic<int> spawned{0};
  std::atomic<int> terminated{0};
  Runtime first = builder_of(GetParam()).on_task_spawn([&](const TaskMeta&) { ++spawned; }).build();
  Runtime second =
      builder_of(GetParam()).on_task_terminate([&](const TaskMeta&) { ++terminated; }).build();
  EXPECT_EQ(first.block_on(give_after_a_yield(1)), 1);
  EXPECT_EQ(second.block_on(give_after_a_yield(1)), 1);
  EXPECT_EQ(spawned, 1);
  EXPECT_EQ(terminated, 1);
}

TEST_P(Hooks, ATaskSpawnedToARuntimeThatIsGoneIsToldOfInBothOrInNeither) {
  Log log;
  RuntimeBuilder builder = builder_of(GetParam());
  log.hook(builder);
  std::optional<Runtime> runtime(builder.build());
  const Spawner spawner = runtime->spawner();
  runtime.reset();
  auto late = spawner.spawn(give_after_a_yield, 1);
  EXPECT_THROW(block_on(late), JoinError);
  EXPECT_EQ(log.alive(), 0U);
}

TEST_P(Hooks, AThreadTellsBeforeAndAfterItSleeps) {
  std::atomic<int> parks{0};
  std::atomic<int> unparks{0};
  {
    Runtime runtime = builder_of(GetParam())
                          .on_thread_park([&] { ++parks; })
                          .on_thread_unpark([&] {
                            const int ended = ++unparks;
                            EXPECT_LE(ended, parks.load());
                          })
                          .build();
    // Nothing else can run: sooner or later its thread sleeps before the time has come.
    auto run = [&]() -> Async<void> {
      const int before = parks;
      while (parks == before) co_await sleep(std::chrono::milliseconds(1));
    };
    runtime.block_on(run());
  }
  EXPECT_EQ(parks, unparks) << "every sleep has ended";
}

TEST_P(Hooks, AHookOfAParkMaySpawn) {
  std::atomic<int> ran{0};
  std::atomic<bool> spawned{false};
  Runtime runtime = builder_of(GetParam())
                        .on_thread_park([&] {
                          if (spawned.exchange(true)) return;
                          auto count = [](std::atomic<int>& counter) -> Async<void> {
                            ++counter;
                            co_return;
                          };
                          spawn(count, std::ref(ran)).detach();
                        })
                        .build();
  auto run = [&]() -> Async<void> {
    while (ran == 0) co_await sleep(std::chrono::milliseconds(1));
  };
  runtime.block_on(run());
  EXPECT_EQ(ran, 1);
}

// Tasks of several threads begin and end at the same time: each is told of once.
TEST(HooksStress, EachTaskBeginsAndEndsOnce) {
  std::atomic<int> spawned{0};
  std::atomic<int> terminated{0};
  constexpr int tasks = 2000;
  {
    Runtime runtime = Runtime::builder()
                          .worker_threads(3)
                          .on_task_spawn([&](const TaskMeta&) { ++spawned; })
                          .on_task_terminate([&](const TaskMeta&) { ++terminated; })
                          .build();
    auto run = []() -> Async<void> {
      std::vector<JoinHandle<int>> handles;
      for (int i = 0; i < tasks; ++i) handles.push_back(spawn(give_after_a_yield, i));
      for (int i = 0; i < tasks; i += 3) handles[static_cast<std::size_t>(i)].abort();
      for (auto& handle : handles) {
        try {
          (void)co_await handle;
        } catch (const JoinError&) {
        }
      }
    };
    runtime.block_on(run());
    EXPECT_EQ(terminated, tasks + 1);
  }
  EXPECT_EQ(spawned, tasks + 1);
  EXPECT_EQ(terminated, tasks + 1);
}

Async<int> count_leaves(int depth) {
  if (depth == 0) {
    co_await yield_now();
    co_return 1;
  }
  const auto [left, right] = co_await parallel(count_leaves(depth - 1), count_leaves(depth - 1));
  co_return left + right;
}

TEST(HooksStress, BranchesThatBecomeTasksBeginAndEndOnce) {
  Log log;
  {
    RuntimeBuilder builder = Runtime::builder().worker_threads(3);
    log.hook(builder);
    Runtime runtime = builder.build();
    EXPECT_EQ(runtime.block_on(count_leaves(8)), 256);
  }
  EXPECT_FALSE(log.names().empty());
  EXPECT_EQ(log.alive(), 0U);
}

}  // namespace
