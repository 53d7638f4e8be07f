// The contracts of StaticExecutor, on one thread. Wakes from outside:
// static_executor_wake_test.cpp.
#include "rouse/embedded/static_executor.hpp"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {
using rouse::Context;
using rouse::pending;
using rouse::Poll;
using rouse::StaticExecutor;
using rouse::Waker;

/// Counts its polls, keeps its waker, does what the test says.
class Probe {
 public:
  using Output = void;
  Probe() = default;
  explicit Probe(std::function<void(Context&)> action) : on_poll(std::move(action)) {}

  Poll<> poll(Context& cx) {
    ++polls;
    waker = cx.waker();
    if (on_poll) on_poll(cx);
    return done ? Poll<>::ready() : Poll<>(pending);
  }

  std::function<void(Context&)> on_poll;
  Waker waker;
  int polls = 0;
  bool done = false;
};

struct Valued {
  using Output = int;
  Poll<int> poll(Context&) { return pending; }
};

template <class F>
concept Spawnable =
    requires(StaticExecutor<1>& executor, F&& future) { executor.spawn(std::forward<F>(future)); };
static_assert(Spawnable<Probe&>);
static_assert(!Spawnable<Probe>, "a temporary would be gone before its first poll");
static_assert(!Spawnable<Valued&>, "nobody would see the value");
static_assert(!std::is_copy_constructible_v<StaticExecutor<1>>);
static_assert(std::is_trivially_destructible_v<StaticExecutor<1>>);
constinit StaticExecutor<100> made_before_main;

TEST(StaticExecutor, PollsASpawnedTaskWithoutAWake) {
  StaticExecutor<2> executor;
  Probe probe;
  EXPECT_FALSE(executor.needs_run());
  ASSERT_TRUE(executor.spawn(probe));
  EXPECT_EQ(probe.polls, 0);
  EXPECT_TRUE(executor.needs_run());
  EXPECT_FALSE(executor.run_once());
  EXPECT_EQ(probe.polls, 1);
  EXPECT_EQ(executor.live(), 1u);
}

TEST(StaticExecutor, DoesNotPollAPendingTaskUntilItIsWoken) {
  StaticExecutor<2> executor;
  Probe woken, asleep;
  ASSERT_TRUE(executor.spawn(woken) && executor.spawn(asleep));
  executor.run_once();
  EXPECT_FALSE(executor.run_once());
  woken.waker.wake_by_ref();
  EXPECT_TRUE(executor.needs_run());
  EXPECT_FALSE(executor.run_once());
  EXPECT_EQ(woken.polls, 2);
  EXPECT_EQ(asleep.polls, 1);
}

TEST(StaticExecutor, AnyNumberOfWakesBeforeAPollCostOnePoll) {
  StaticExecutor<2> executor;
  Probe probe;
  ASSERT_TRUE(executor.spawn(probe));
  executor.run_once();
  for (int i = 0; i < 10; ++i) probe.waker.wake_by_ref();
  Waker(probe.waker).wake();
  while (executor.run_once()) {
  }
  EXPECT_EQ(probe.polls, 2);
}

TEST(StaticExecutor, AWakeFromAnEarlierTaskOfTheRoundCostsNoSecondPoll) {
  StaticExecutor<2> executor;
  Probe second;
  Probe first([&](Context&) {
    if (second.waker) second.waker.wake_by_ref();
  });
  ASSERT_TRUE(executor.spawn(first) && executor.spawn(second));
  executor.run_once();
  first.waker.wake_by_ref();
  second.waker.wake_by_ref();
  while (executor.run_once()) {
  }
  EXPECT_EQ(second.polls, 2);
}

TEST(StaticExecutor, AWakeDuringAPollCausesExactlyOneMore) {
  StaticExecutor<1> executor;
  Probe probe;
  probe.on_poll = [&](Context& cx) {
    if (probe.polls > 1) return;
    cx.waker().wake_by_ref();
    cx.waker().wake_by_ref();
  };
  ASSERT_TRUE(executor.spawn(probe));
  EXPECT_TRUE(executor.run_once());
  EXPECT_EQ(probe.polls, 1);
  EXPECT_FALSE(executor.run_once());
  EXPECT_FALSE(executor.run_once());
  EXPECT_EQ(probe.polls, 2);
}

TEST(StaticExecutor, AWakeAfterCompletionDoesNothing) {
  StaticExecutor<1> executor;
  Probe probe;
  probe.done = true;
  ASSERT_TRUE(executor.spawn(probe));
  EXPECT_FALSE(executor.run_once());
  EXPECT_EQ(executor.live(), 0u);
  probe.waker.wake_by_ref();
  EXPECT_FALSE(executor.run_once());
  EXPECT_EQ(probe.polls, 1);
}

TEST(StaticExecutor, AWakeDuringTheLastPollDoesNothing) {
  StaticExecutor<1> executor;
  Probe probe([](Context& cx) { cx.waker().wake_by_ref(); });
  probe.done = true;
  ASSERT_TRUE(executor.spawn(probe));
  while (executor.run_once()) {
  }
  EXPECT_EQ(probe.polls, 1);
}

TEST(StaticExecutor, AFullOneRefusesUntilATaskHasEnded) {
  StaticExecutor<2> executor;
  Probe a, b, c;
  ASSERT_TRUE(executor.spawn(a) && executor.spawn(b));
  EXPECT_FALSE(executor.spawn(c));
  executor.run_once();
  EXPECT_FALSE(executor.spawn(c));
  a.done = true;
  a.waker.wake_by_ref();
  executor.run_once();
  EXPECT_TRUE(executor.spawn(c));
  EXPECT_FALSE(executor.spawn(a));
  executor.run_once();
  EXPECT_EQ(c.polls, 1);
  EXPECT_EQ(executor.live(), 2u);
}

TEST(StaticExecutor, AStaleWakerAtWorstPollsTheSlotsNextTask) {
  StaticExecutor<1> executor;
  Probe old;
  old.done = true;
  ASSERT_TRUE(executor.spawn(old));
  executor.run_once();
  auto next = std::make_unique<Probe>();
  ASSERT_TRUE(executor.spawn(*next));
  executor.run_once();
  Waker copy = old.waker;
  old.waker.wake_by_ref();
  std::move(copy).wake();
  executor.run_once();
  EXPECT_EQ(next->polls, 2);
  EXPECT_EQ(old.polls, 1);
  next->done = true;
  next->waker.wake_by_ref();
  executor.run_once();
  next.reset();  // a wake now must not touch it
  old.waker.wake_by_ref();
  executor.run_once();
  EXPECT_EQ(executor.live(), 0u);
}

TEST(StaticExecutor, WakersOfOneTaskWakeTheSameAndOfTwoDoNot) {
  StaticExecutor<2> executor;
  Probe a, b;
  ASSERT_TRUE(executor.spawn(a) && executor.spawn(b));
  executor.run_once();
  EXPECT_TRUE(a.waker.will_wake(Waker(a.waker)));
  EXPECT_FALSE(a.waker.will_wake(b.waker));
}

TEST(StaticExecutor, ATaskThatAlwaysWakesItselfDoesNotStarveOthers) {
  StaticExecutor<3> executor;
  Probe before([](Context& cx) { cx.waker().wake_by_ref(); });
  Probe greedy([](Context& cx) { cx.waker().wake_by_ref(); });
  Probe after([](Context& cx) { cx.waker().wake_by_ref(); });
  ASSERT_TRUE(executor.spawn(before) && executor.spawn(greedy) && executor.spawn(after));
  for (int round = 1; round <= 100; ++round) {
    EXPECT_TRUE(executor.run_once());
    EXPECT_EQ(before.polls, round);
    EXPECT_EQ(greedy.polls, round);
    EXPECT_EQ(after.polls, round);
  }
}

TEST(StaticExecutor, TwoTasksThatWakeEachOtherDoNotStarveAThird) {
  StaticExecutor<3> executor;
  Probe ping, pong, third;
  ping.on_poll = [&](Context&) {
    if (pong.waker) pong.waker.wake_by_ref();
  };
  pong.on_poll = [&](Context&) { ping.waker.wake_by_ref(); };
  ASSERT_TRUE(executor.spawn(ping) && executor.spawn(pong) && executor.spawn(third));
  for (int round = 1; round <= 100; ++round) {
    executor.run_once();
    EXPECT_LE(ping.polls, round);
    EXPECT_LE(pong.polls, round);
    EXPECT_EQ(third.polls, round);
    third.waker.wake_by_ref();
  }
}

TEST(StaticExecutor, ATaskMaySpawnAnother) {
  StaticExecutor<2> executor;
  Probe child;
  child.done = true;
  bool spawned = false;
  Probe parent([&](Context&) { spawned = executor.spawn(child); });
  parent.done = true;
  ASSERT_TRUE(executor.spawn(parent));
  executor.run([](const auto&) { FAIL() << "something was left to run"; });
  EXPECT_TRUE(spawned);
  EXPECT_EQ(child.polls, 1);
}

TEST(StaticExecutor, RunCallsIdleOnlyWhenNothingIsWokenAndEndsWithTheLastTask) {
  StaticExecutor<2> executor;
  executor.run([](const auto&) { FAIL() << "idle without a task"; });
  Probe probe;
  ASSERT_TRUE(executor.spawn(probe));
  int idles = 0;
  executor.run([&](const StaticExecutor<2>& ex) {
    EXPECT_FALSE(ex.needs_run());
    ++idles;
    probe.done = idles == 3;
    if (idles != 2) probe.waker.wake_by_ref();
  });
  EXPECT_EQ(idles, 3);
  EXPECT_EQ(probe.polls, 3);
}

int kicks = 0;

TEST(StaticExecutor, KicksOnceForTheFirstWakeAfterARound) {
  StaticExecutor<2> executor([]() noexcept { ++kicks; });
  kicks = 0;
  Probe a, b;
  ASSERT_TRUE(executor.spawn(a) && executor.spawn(b));
  EXPECT_EQ(kicks, 1);
  executor.run_once();
  EXPECT_EQ(kicks, 1);
  a.waker.wake_by_ref();
  b.waker.wake_by_ref();
  EXPECT_EQ(kicks, 2);
}

TEST(StaticExecutor, WorksBeforeAnyConstructorHasRun) {
  Probe probe;
  probe.done = true;
  ASSERT_TRUE(made_before_main.spawn(probe));
  EXPECT_FALSE(made_before_main.run_once());
  EXPECT_EQ(made_before_main.live(), 0u);
}

TEST(StaticExecutorDeathTest, RefusesARoundInsideATask) {
  StaticExecutor<1> executor;
  Probe probe([&](Context&) { executor.run_once(); });
  ASSERT_TRUE(executor.spawn(probe));
  EXPECT_DEATH(executor.run_once(), "inside a task");
}

template <std::size_t N>
void poll_exactly_the_woken_tasks() {
  SCOPED_TRACE(N);
  const auto executor = std::make_unique<StaticExecutor<N>>();
  std::vector<Probe> probes(N);
  Probe one_more;
  for (Probe& probe : probes) ASSERT_TRUE(executor->spawn(probe));
  EXPECT_FALSE(executor->spawn(one_more));
  EXPECT_FALSE(executor->run_once());
  std::vector<int> polls(N, 1);
  for (const std::size_t step : {1u, 2u, 3u, 7u, 63u, 64u, 65u, 1000u}) {
    for (std::size_t i = 0; i < N; i += step) {
      probes[i].waker.wake_by_ref();
      ++polls[i];
    }
    EXPECT_FALSE(executor->run_once());
    for (std::size_t i = 0; i < N; ++i) ASSERT_EQ(probes[i].polls, polls[i]) << i;
  }
}

template <std::size_t N>
void use_every_slot_again() {
  SCOPED_TRACE(N);
  const auto executor = std::make_unique<StaticExecutor<N>>();
  std::vector<Probe> probes(N);
  for (int generation = 1; generation <= 3; ++generation) {
    for (Probe& probe : probes) {
      probe.done = true;
      ASSERT_TRUE(executor->spawn(probe));
    }
    executor->run([](const auto&) { FAIL() << "a task was not polled"; });
    for (Probe& probe : probes) ASSERT_EQ(probe.polls, generation);
  }
}

/// One word, its edges, several words, and more words than `need_run_` has bits.
template <class Fn>
void for_sizes(Fn fn) {
  fn(std::integral_constant<std::size_t, 1>{});
  fn(std::integral_constant<std::size_t, 63>{});
  fn(std::integral_constant<std::size_t, 64>{});
  fn(std::integral_constant<std::size_t, 65>{});
  fn(std::integral_constant<std::size_t, 100>{});
  fn(std::integral_constant<std::size_t, 64 * 64 + 65>{});
}

TEST(StaticExecutor, OfAnySizePollsExactlyTheWokenTasks) {
  for_sizes([](auto n) { poll_exactly_the_woken_tasks<n()>(); });
}

TEST(StaticExecutor, OfAnySizeUsesEverySlotAgain) {
  for_sizes([](auto n) { use_every_slot_again<n()>(); });
}
}  // namespace
