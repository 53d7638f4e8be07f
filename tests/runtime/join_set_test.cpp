// JoinSet: results in the order of their ends, nothing lost, the rest aborted.
#include "rouse/runtime/join_set.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "exec/task/task_transitions.hpp"

namespace rouse {

using namespace internal;
namespace {

using testing::Gate;
using testing::PollHarness;

Async<int> value(int x) { co_return x; }
Async<void> nothing() { co_return; }
Async<int> fails() {
  co_await yield_now();
  throw std::runtime_error("no luck");
}
Async<int> waits_for(Gate<int>* gate) { co_return co_await gate->wait(); }

/// Says when it is destroyed.
class Trace {
 public:
  explicit Trace(int& ended) : ended_(&ended) {}
  Trace(Trace&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  ~Trace() {
    if (ended_) ++*ended_;
  }

 private:
  int* ended_;
};
Async<int> waits_for_ever(Trace) {
  co_await pending_forever<>();
  co_return 0;
}

template <class T>
Async<std::vector<T>> all_of(JoinSet<T>* set) {
  std::vector<T> results;
  while (auto result = co_await set->join_next()) results.push_back(std::move(*result));
  co_return results;
}

TEST(JoinSet, GivesResultsInTheOrderInWhichTheTasksEnd) {
  LocalExecutor executor;
  Gate<int> first;
  Gate<int> second;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), waits_for, &first);
  set.spawn_on(executor.spawner(), waits_for, &second);
  EXPECT_EQ(set.size(), 2U);
  second.open(2);
  EXPECT_EQ(executor.run_until(set.join_next()), 2);
  first.open(1);
  EXPECT_EQ(executor.run_until(set.join_next()), 1);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(executor.run_until(set.join_next()), std::nullopt);
}

TEST(JoinSet, SpawnsFunctionsAndFuturesOnTheExecutorOfTheRunningTask) {
  LocalExecutor executor;
  auto run = []() -> Async<int> {
    JoinSet<int> set;
    set.spawn(value, 1);
    set.spawn(value(10));
    set.spawn([] { return value(100); });
    set.spawn_local(value, 1000);
    set.spawn_local(value(10'000));
    const auto results = co_await all_of(&set);
    co_return std::accumulate(results.begin(), results.end(), 0);
  };
  EXPECT_EQ(executor.run_until(run()), 11'111);
}

TEST(JoinSet, OfVoidSaysWhetherOneEnded) {
  LocalExecutor executor;
  JoinSet<> set;
  set.spawn_on(executor.spawner(), nothing);
  EXPECT_TRUE(executor.run_until(set.join_next()));
  EXPECT_FALSE(executor.run_until(set.join_next()));
}

TEST(JoinSet, TakesResultsThatCannotBeCopied) {
  LocalExecutor executor;
  JoinSet<std::unique_ptr<int>> set;
  set.spawn_on(executor.spawner(),
               []() -> Async<std::unique_ptr<int>> { co_return std::make_unique<int>(7); });
  const auto result = executor.run_until(set.join_next());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(**result, 7);
}

TEST(JoinSet, TakesInATaskThatWasSpawnedByOthers) {
  LocalExecutor executor;
  JoinSet<std::string> set;
  auto name = []() -> Async<std::string> { co_return std::string(task::name()); };
  auto task = task::Builder().name("named").spawn_on(executor.spawner(), name);
  const TaskId id = task.id();
  EXPECT_EQ(set.add(std::move(task)), id);
  EXPECT_EQ(executor.run_until(set.join_next()), "named");
}

TEST(JoinSet, RethrowsWhatATaskThrewAndTheOthersGoOn) {
  LocalExecutor executor;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), fails);
  EXPECT_THROW(executor.run_until(set.join_next()), std::runtime_error);
  Gate<int> gate;
  set.spawn_on(executor.spawner(), fails);
  set.spawn_on(executor.spawner(), waits_for, &gate);
  EXPECT_THROW(executor.run_until(set.join_next()), std::runtime_error);
  EXPECT_EQ(set.size(), 1U);
  gate.open(3);
  EXPECT_EQ(executor.run_until(set.join_next()), 3);
}

TEST(JoinSet, AfterAbortAllEachJoinSaysWhichTaskWasCancelled) {
  LocalExecutor executor;
  int ended = 0;
  JoinSet<int> set;
  std::vector<TaskId> spawned;
  for (int i = 0; i < 3; ++i) {
    spawned.push_back(set.spawn_on(executor.spawner(), waits_for_ever, Trace(ended)));
  }
  executor.run_until(yield_now());
  set.abort_all();
  EXPECT_EQ(set.size(), 3U);
  std::vector<TaskId> cancelled;
  while (!set.empty()) {
    try {
      executor.run_until(set.join_next());
      FAIL() << "no JoinError";
    } catch (const JoinError& error) {
      cancelled.push_back(error.id());
    }
  }
  std::ranges::sort(spawned);
  std::ranges::sort(cancelled);
  EXPECT_EQ(cancelled, spawned);
  EXPECT_EQ(ended, 3);
}

TEST(JoinSet, ATaskThatWasDoneBeforeAbortAllGivesItsResult) {
  LocalExecutor executor;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), value, 5);
  executor.run();
  set.abort_all();
  EXPECT_EQ(executor.run_until(set.join_next()), 5);
}

TEST(JoinSet, WhenItGoesTheRestIsAborted) {
  LocalExecutor executor;
  int ended = 0;
  {
    JoinSet<int> set;
    set.spawn_on(executor.spawner(), waits_for_ever, Trace(ended));
    set.spawn_on(executor.spawner(), value, 1);
    EXPECT_EQ(executor.run_until(set.join_next()), 1);
    EXPECT_EQ(ended, 0);
  }
  executor.run();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(JoinSet, WhenItGoesAfterItsExecutorNothingIsTouched) {
  int ended = 0;
  JoinSet<int> set;
  {
    LocalExecutor executor;
    set.spawn_on(executor.spawner(), waits_for_ever, Trace(ended));
    executor.run_until(yield_now());
  }
  EXPECT_EQ(ended, 1);
  set.abort_all();
  EXPECT_THROW(block_on(set.join_next()), JoinError);
}

TEST(JoinSet, MovingItKeepsTheTasksAndAssigningAbortsThoseThatWereThere) {
  LocalExecutor executor;
  int ended = 0;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), waits_for_ever, Trace(ended));
  JoinSet<int> other;
  other.spawn_on(executor.spawner(), value, 8);
  set = std::move(other);
  EXPECT_EQ(executor.run_until(set.join_next()), 8);
  executor.run();
  EXPECT_EQ(ended, 1);
}

TEST(JoinSet, DetachAllLetsTheTasksRunOn) {
  LocalExecutor executor;
  int runs = 0;
  {
    JoinSet<> set;
    auto counts = [&runs]() -> Async<void> {
      co_await yield_now();
      ++runs;
    };
    set.spawn_on(executor.spawner(), counts);
    set.spawn_on(executor.spawner(), counts);
    set.detach_all();
    EXPECT_TRUE(set.empty());
  }
  executor.run();
  EXPECT_EQ(runs, 2);
}

TEST(JoinSet, DetachAllWakesWhoeverWaits) {
  LocalExecutor executor;
  JoinSet<int> set;
  Gate<int> gate;
  set.spawn_on(executor.spawner(), waits_for, &gate);
  PollHarness join(set.join_next());
  EXPECT_TRUE(join.poll().is_pending());
  set.detach_all();
  EXPECT_TRUE(join.is_woken());
  EXPECT_EQ(join.poll().value(), std::nullopt);
  gate.open(1);
  executor.run();
}

TEST(JoinSet, ShutdownIsDoneWhenAllTasksHaveEnded) {
  LocalExecutor executor;
  int ended = 0;
  JoinSet<int> set;
  for (int i = 0; i < 3; ++i) set.spawn_on(executor.spawner(), waits_for_ever, Trace(ended));
  set.spawn_on(executor.spawner(), value, 1);
  set.spawn_on(executor.spawner(), fails);
  executor.run_until(yield_now());
  EXPECT_EQ(ended, 0);
  executor.run_until(set.shutdown());
  EXPECT_EQ(ended, 3);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(JoinSet, ShutdownOfAnEmptySetIsDoneAtOnce) {
  JoinSet<int> set;
  block_on(set.shutdown());
}

TEST(JoinSet, DroppingJoinNextMidwayLosesNothing) {
  LocalExecutor executor;
  std::vector<Gate<int>> gates(4);
  JoinSet<int> set;
  for (auto& gate : gates) set.spawn_on(executor.spawner(), waits_for, &gate);
  auto run = [&]() -> Async<std::vector<int>> {
    std::vector<int> results;
    for (int i = 0; i < 4; ++i) {
      // Polled, pending, and dropped; then the task ends with nobody waiting.
      const auto which = co_await select_biased(set.join_next(), ready(0));
      EXPECT_EQ(which.index(), 1U);
      gates[static_cast<std::size_t>(i)].open(i);
      co_await yield_now();
      co_await yield_now();
      results.push_back((co_await set.join_next()).value());
    }
    co_return results;
  };
  EXPECT_EQ(executor.run_until(run()), (std::vector<int>{0, 1, 2, 3}));
}

TEST(JoinSet, DroppedAfterAnyOfItsPollsJoinNextTakesNothingWithIt) {
  LocalExecutor executor;
  JoinSet<int> set;
  Gate<int> gate;
  set.spawn_on(executor.spawner(), waits_for, &gate);
  executor.run_until(yield_now());
  const auto report =
      testing::drop_at_each_poll([&] { return set.join_next(); },
                                 [&](std::size_t k) {
                                   if (k != 2) return;
                                   if (!gate.is_open()) gate.open(9);
                                   executor.run();
                                 },
                                 [&](std::size_t k) { EXPECT_EQ(set.size(), k < 3 ? 1U : 0U); });
  EXPECT_EQ(report.polls, 3U);
}

TEST(JoinSet, TasksOfAnotherThreadAreJoinedHere) {
  LocalExecutor executor;
  Gate<> stop;
  std::jthread thread([&] { executor.run_until(stop.wait()); });
  JoinSet<int> set;
  for (int i = 1; i <= 100; ++i) set.spawn_on(executor.spawner(), value, i);
  int sum = 0;
  while (auto result = block_on(set.join_next())) sum += *result;
  EXPECT_EQ(sum, 5050);
  stop.open();
}

/// Tasks that the test ends by hand, and how often their handles looked in vain.
class ByHand : public Scheduler {
 public:
  void submit(TaskHeader& task) override { tasks_.push_back(&task); }
  void watch(TaskHeader& task, const Waker& waker) override {
    ++watches;
    if (!task.join_waker.read().will_wake(waker)) task.join_waker.write() = waker;
  }
  void abort(TaskHeader&) override {}
  void detach(TaskHeader&) override {}
  void joined(TaskHeader& task) override { task.vtable.free(task); }
  Waker waker_of(TaskHeader&) override { return {}; }
  void add_ref() noexcept override {}
  void release() noexcept override {}

  void finish(std::size_t index) {
    TaskHeader& task = *tasks_[index];
    Context cx(Waker::noop());
    ASSERT_TRUE(task.vtable.poll(task, cx));
    Waker joiner = std::move(task.join_waker.write());
    task.local_state().finish();
    if (joiner) std::move(joiner).wake();
  }

  std::size_t watches = 0;

 private:
  std::vector<TaskHeader*> tasks_;
};

TEST(JoinSet, ACompletionAmongTenThousandPollsOneTaskOnly) {
  constexpr int count = 10'000;
  ByHand executor;
  JoinSet<int> set;
  const Spawner spawner(RefPtr<Scheduler>::share(&executor));
  for (int i = 0; i < count; ++i) set.spawn_on(spawner, value, i);
  ASSERT_TRUE(PollHarness(set.join_next()).poll().is_pending());
  ASSERT_EQ(executor.watches, static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int which = (i * 7919) % count;  // 7919 is prime: each once
    executor.finish(static_cast<std::size_t>(which));
    ASSERT_EQ(PollHarness(set.join_next()).poll().value(), which);
  }
  EXPECT_EQ(executor.watches, static_cast<std::size_t>(count));  // none was polled in vain
  EXPECT_TRUE(set.empty());
}

TEST(JoinSet, TenThousandTasksAreJoinedByOneTask) {
  constexpr int count = 10'000;
  LocalExecutor executor;
  auto run = []() -> Async<std::int64_t> {
    JoinSet<int> set;
    for (int i = 1; i <= count; ++i) set.spawn(value, i);
    std::int64_t sum = 0;
    while (auto result = co_await set.join_next()) sum += *result;
    co_return sum;
  };
  EXPECT_EQ(executor.run_until(run()), std::int64_t{count} * (count + 1) / 2);
}

TEST(JoinSetDeathTest, SpawnOutsideOfATaskSaysWhatToDo) {
  JoinSet<int> set;
  EXPECT_DEATH(set.spawn(value, 1), "spawn without an executor");
}

}  // namespace
}  // namespace rouse
