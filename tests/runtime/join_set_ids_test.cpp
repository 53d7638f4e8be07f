// JoinSet: which task it was, what is done now, and one task of many.
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/abort_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;

Async<int> give_or_throw(int value) {
  co_await yield_now();
  if (value < 0) throw std::runtime_error("negative");
  co_return value;
}
Async<int> never_gives() { co_return co_await pending_forever<int>(); }
Async<void> gives_nothing() { co_await yield_now(); }

TEST(JoinNextWithId, SaysWhichTaskItWas) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    JoinSet<int> set;
    const TaskId one = set.spawn(give_or_throw, 1);
    const TaskId two = set.spawn(give_or_throw, 2);
    int joined = 0;
    while (auto done = co_await set.join_next_with_id()) {
      const TaskId id = done->id();
      const int value = co_await *done;
      EXPECT_EQ(id, value == 1 ? one : two);
      ++joined;
    }
    EXPECT_EQ(joined, 2);
    EXPECT_TRUE(set.empty());
  };
  executor.run_until(run());
}

TEST(JoinNextWithId, KnowsTheIdOfATaskThatThrewOrWasAborted) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    JoinSet<int> set;
    const TaskId throws = set.spawn(give_or_throw, -1);
    auto done = co_await set.join_next_with_id();
    EXPECT_EQ(done->id(), throws);
    bool caught = false;
    try {
      co_await *done;
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    const TaskId aborted = set.spawn(never_gives);
    EXPECT_TRUE(set.abort(aborted));
    auto ended = co_await set.join_next_with_id();
    EXPECT_EQ(ended->id(), aborted);
    caught = false;
    try {
      co_await *ended;
    } catch (const JoinError& error) {
      caught = error.id() == aborted;
    }
    EXPECT_TRUE(caught);
  };
  executor.run_until(run());
}

TEST(JoinNextWithId, AResultThatNobodyTakesIsReportedAsThatOfAnyTask) {
  LocalExecutor executor;
  int reported = 0;
  executor.on_unhandled([&](const UnhandledException&) { ++reported; });
  auto run = []() -> Async<void> {
    JoinSet<int> set;
    set.spawn(give_or_throw, -1);
    {
      const auto dropped = co_await set.join_next_with_id();
    }
  };
  executor.run_until(run());
  EXPECT_EQ(reported, 1);
}

TEST(JoinNextWithId, DroppedAtAnyPollLosesNothing) {
  LocalExecutor executor;
  JoinSet<int> set;
  const auto report = rouse::testing::drop_at_each_poll(
      [&] {
        set.spawn_on(executor.spawner(), give_or_throw, 1);
        return set.join_next_with_id();
      },
      [&](std::size_t) { executor.run(); },
      [&](std::size_t) {
        executor.run();
        while (set.try_join_next()) {
        }
        EXPECT_TRUE(set.empty());
      });
  EXPECT_EQ(report.polls, 2U);
}

TEST(TryJoinNext, GivesWhatIsDoneAndDoesNotWait) {
  LocalExecutor executor;
  JoinSet<int> set;
  EXPECT_FALSE(set.try_join_next());
  set.spawn_on(executor.spawner(), give_or_throw, 1);
  set.spawn_on(executor.spawner(), never_gives);
  EXPECT_FALSE(set.try_join_next());
  EXPECT_EQ(set.size(), 2U);
  auto turns = []() -> Async<void> {
    for (int i = 0; i < 4; ++i) co_await yield_now();
  };
  executor.run_until(turns());
  EXPECT_EQ(set.try_join_next(), 1);
  EXPECT_FALSE(set.try_join_next());
  EXPECT_EQ(set.size(), 1U);
}

TEST(TryJoinNext, ThrowsWhatTheTaskThrew) {
  LocalExecutor executor;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), give_or_throw, -1);
  executor.run();
  EXPECT_THROW((void)set.try_join_next(), std::runtime_error);
  EXPECT_TRUE(set.empty());
}

TEST(TryJoinNext, SomebodyWhoWaitsAfterwardsIsWoken) {
  LocalExecutor executor;
  auto run = []() -> Async<int> {
    JoinSet<int> set;
    set.spawn(give_or_throw, 7);
    EXPECT_FALSE(set.try_join_next());  // looks at it, and waits for nothing
    const auto value = co_await set.join_next();
    co_return value.value_or(0);
  };
  EXPECT_EQ(executor.run_until(run()), 7);
}

TEST(TryJoinNext, SomebodyWhoWaitsAlreadyIsWoken) {
  LocalExecutor executor;
  JoinSet<int> set;
  set.spawn_on(executor.spawner(), give_or_throw, 7);
  rouse::testing::PollHarness waits(set.join_next());
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_FALSE(set.try_join_next());
  executor.run();
  EXPECT_TRUE(waits.is_woken());
  EXPECT_EQ(waits.poll().value(), 7);
}

TEST(TryJoinNext, ATaskWithoutAResultGivesTrue) {
  LocalExecutor executor;
  JoinSet<> set;
  set.spawn_on(executor.spawner(), gives_nothing);
  EXPECT_FALSE(set.try_join_next());
  executor.run();
  EXPECT_TRUE(set.try_join_next());
  EXPECT_FALSE(set.try_join_next());
}

TEST(JoinSetAbort, EndsOneTaskAndLeavesTheOthers) {
  LocalExecutor executor;
  auto run = []() -> Async<void> {
    JoinSet<int> set;
    const TaskId first = set.spawn(never_gives);
    set.spawn(give_or_throw, 2);
    EXPECT_TRUE(set.abort(first));
    EXPECT_FALSE(set.abort(first + 1'000'000));
    int cancelled = 0;
    int sum = 0;
    while (!set.empty()) {
      try {
        sum += (co_await set.join_next()).value_or(0);
      } catch (const JoinError&) {
        ++cancelled;
      }
    }
    EXPECT_EQ(cancelled, 1);
    EXPECT_EQ(sum, 2);
    EXPECT_FALSE(set.abort(first));
  };
  executor.run_until(run());
}

TEST(JoinSetAbort, AHandleThatWasKeptAbortsATaskThatWasAdded) {
  LocalExecutor executor;
  auto run = []() -> Async<bool> {
    JoinSet<int> set;
    auto task = spawn(never_gives);
    const AbortHandle stop = task.abort_handle();
    set.add(std::move(task));
    stop.abort();
    try {
      co_await set.join_next();
    } catch (const JoinError& error) {
      co_return error.id() == stop.id();
    }
    co_return false;
  };
  EXPECT_TRUE(executor.run_until(run()));
}

}  // namespace
