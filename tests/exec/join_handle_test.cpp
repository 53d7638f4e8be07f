// JoinHandle: results, exceptions, abort, detach, from this and from other threads.
#include "rouse/exec/join_handle.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {
namespace {

using testing::CountingWaker;
using testing::Gate;

Async<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }
Async<int> fails() {
  co_await yield_now();
  throw std::runtime_error("task failed");
}

Async<void> fails_with(int code) {
  co_await yield_now();
  throw std::runtime_error("code " + std::to_string(code));
}

TEST(JoinHandle, GivesTheResultOfTheTask) {
  LocalExecutor executor;
  auto joins = []() -> Async<int> {
    auto handle = spawn(boxed, 5);
    const auto result = co_await handle;
    co_return *result;
  };
  EXPECT_EQ(executor.run_until(joins()), 5);
}

TEST(JoinHandle, GivesTheResultOfATaskThatWasDoneBefore) {
  LocalExecutor executor;
  auto handle = executor.spawn(boxed, 6);
  executor.run();
  EXPECT_TRUE(handle.is_finished());
  EXPECT_EQ(*executor.run_until(handle), 6);
}

TEST(JoinHandle, RethrowsWhatTheTaskThrew) {
  LocalExecutor executor;
  auto joins = []() -> Async<std::string> {
    try {
      co_await spawn(fails);
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "nothing";
  };
  EXPECT_EQ(executor.run_until(joins()), "task failed");
}

TEST(JoinHandle, AnExceptionOfADetachedTaskGoesToTheHookAndTheExecutorLivesOn) {
  LocalExecutor executor;
  std::string seen;
  std::source_location where;
  executor.on_unhandled([&](const UnhandledException& unhandled) {
    where = unhandled.spawned_at;
    try {
      std::rethrow_exception(unhandled.exception);
    } catch (const std::exception& e) {
      seen = e.what();
    }
  });
  executor.spawn(fails).detach();
  const auto line = std::source_location::current().line() - 1;
  executor.run();
  EXPECT_EQ(seen, "task failed");
  EXPECT_EQ(where.line(), line);
  EXPECT_EQ(*executor.run_until(boxed(1)), 1);
}

TEST(JoinHandle, ATaskSpawnedWithArgumentsNamesItsCoroutineWhenItFails) {
  LocalExecutor executor;
  std::string name;
  executor.on_unhandled(
      [&](const UnhandledException& unhandled) { name = unhandled.spawned_at.function_name(); });
  executor.spawn(fails_with, 1).detach();
  executor.run();
  EXPECT_NE(name.find("fails_with"), std::string::npos) << name;
}

TEST(JoinHandle, AnExceptionNobodyTookIsReportedWhenTheHandleGoes) {
  LocalExecutor executor;
  int reports = 0;
  executor.on_unhandled([&](const UnhandledException&) { ++reports; });
  {
    auto handle = executor.spawn(fails);
    executor.run();
    EXPECT_EQ(reports, 0);
  }
  executor.run();
  EXPECT_EQ(reports, 1);
}

TEST(JoinHandle, WithoutAHookAnUnhandledExceptionIsToldOnStderr) {
  LocalExecutor executor;
  ::testing::internal::CaptureStderr();
  executor.spawn(fails).detach();
  executor.run();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("join_handle_test.cpp"), std::string::npos) << text;
  EXPECT_NE(text.find("nobody joined: task failed\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "a line, and where it was thrown";
}

TEST(JoinHandle, AbortDestroysTheFutureAtItsSuspensionPointAndTheJoinReportsIt) {
  LocalExecutor executor;
  bool destroyed = false;
  struct Guard {
    explicit Guard(bool& out) : flag(out) {}
    ~Guard() { flag = true; }
    bool& flag;
  };
  auto waits = [&]() -> Async<void> {
    const Guard guard(destroyed);
    co_await pending_forever<void>();
  };
  auto drive = [&]() -> Async<bool> {
    auto handle = spawn(waits);
    co_await yield_now();
    handle.abort();
    EXPECT_FALSE(destroyed);
    bool cancelled = false;
    try {
      co_await handle;
    } catch (const JoinError& e) {
      cancelled = e.is_cancelled();
    }
    co_return cancelled&& destroyed;
  };
  EXPECT_TRUE(executor.run_until(drive()));
}

TEST(JoinHandle, AbortOfATaskThatIsDoneKeepsItsResult) {
  LocalExecutor executor;
  auto handle = executor.spawn(boxed, 3);
  executor.run();
  handle.abort();
  executor.run();
  EXPECT_EQ(*executor.run_until(handle), 3);
}

TEST(JoinHandle, ATaskMayAbortItself) {
  LocalExecutor executor;
  std::optional<JoinHandle<void>> self;
  auto suicidal = [&]() -> Async<void> {
    self->abort();
    co_await yield_now();
    ADD_FAILURE() << "resumed after abort";
  };
  self = executor.spawn(suicidal);
  executor.run();
  EXPECT_THROW(block_on(*self), JoinError);
}

TEST(JoinHandle, DroppingItLetsTheTaskRunOn) {
  LocalExecutor executor;
  int ran = 0;
  auto task = [&ran]() -> Async<void> {
    co_await yield_now();
    ++ran;
  };
  {
    auto dropped = executor.spawn(task);
  }
  executor.run();
  EXPECT_EQ(ran, 1);
}

TEST(JoinHandle, TheLatestWakerIsWokenAndADroppedHandleKeepsNone) {
  LocalExecutor executor;
  CountingWaker first;
  CountingWaker second;
  Gate<void> gate;
  auto waits = [&]() -> Async<void> { co_await gate.wait(); };
  auto drive = [&]() -> Async<void> {
    auto handle = spawn(waits);
    {
      Context one(first.waker());
      Context two(second.waker());
      EXPECT_TRUE(handle.poll(one).is_pending());
      EXPECT_TRUE(handle.poll(two).is_pending());
      EXPECT_EQ(first.clones(), 0U);
    }
    gate.open();
    co_await yield_now();
    co_await yield_now();
    EXPECT_EQ(first.count(), 0U);
    EXPECT_EQ(second.count(), 1U);
    auto other = spawn(pending_forever<void>());
    {
      Context one(first.waker());
      EXPECT_TRUE(other.poll(one).is_pending());
      EXPECT_EQ(first.clones(), 1U);
    }
    other.abort();
    other.detach();
    EXPECT_EQ(first.clones(), 0U);
  };
  executor.run_until(drive());
}

TEST(JoinHandle, DestroyedAfterEachOfItsPollsLeaksNothingAndTheTaskRunsOn) {
  LocalExecutor executor;
  int ended = 0;
  auto task = [&ended]() -> Async<std::string> {
    for (int i = 0; i < 3; ++i) co_await yield_now();
    ++ended;
    co_return std::string(100, 'x');
  };
  auto drive = [&]() -> Async<void> {
    for (int polls = 0; polls <= 5; ++polls) {
      const int before = ended;
      CountingWaker waker;
      {
        auto handle = spawn(task);
        bool is_ready = false;
        for (int k = 0; k < polls && !is_ready; ++k) {
          Context cx(waker.waker());
          is_ready = handle.poll(cx).is_ready();
          co_await yield_now();
        }
        EXPECT_EQ(is_ready, polls == 5);
      }
      EXPECT_EQ(waker.clones(), 0U) << polls;
      for (int i = 0; i < 5; ++i) co_await yield_now();
      EXPECT_EQ(ended, before + 1) << polls;
    }
  };
  executor.run_until(drive());
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(JoinHandle, ATaskThatJoinsWhatIsDoneLetsOthersRunWhenItsBudgetEnds) {
  LocalExecutor executor;
  std::vector<JoinHandle<std::unique_ptr<int>>> done;
  for (int i = 0; i < 1000; ++i) done.push_back(executor.spawn(boxed, i));
  executor.run();
  int joined = 0;
  int most_joined_between = 0;
  bool stop = false;
  auto joins = [&]() -> Async<void> {
    for (auto& handle : done) {
      co_await handle;
      ++joined;
    }
    stop = true;
  };
  auto watches = [&]() -> Async<void> {
    int before = joined;
    while (!stop) {
      co_await yield_now();
      most_joined_between = std::max(most_joined_between, joined - before);
      before = joined;
    }
  };
  executor.spawn(joins).detach();
  executor.spawn(watches).detach();
  executor.run();
  EXPECT_EQ(joined, 1000);
  EXPECT_EQ(most_joined_between, static_cast<int>(Context::task_budget));
}

TEST(JoinHandle, IsAwaitedAbortedAndDroppedFromAnotherThread) {
  LocalExecutor executor;
  Gate<void> gate;
  Gate<void> finished;
  auto waits = [&]() -> Async<int> {
    co_await gate.wait();
    co_return 9;
  };
  std::thread other([&, spawner = executor.spawner()] {
    auto handle = spawner.spawn(waits);
    auto doomed = spawner.spawn(pending_forever<void>());
    auto dropped = spawner.spawn(pending_forever<void>());
    doomed.abort();
    EXPECT_THROW(block_on(doomed), JoinError);
    gate.open();
    EXPECT_EQ(block_on(handle), 9);
    {
      auto gone = std::move(dropped);
    }
    finished.open();
  });
  executor.run_until(finished.wait());
  other.join();
}

TEST(JoinHandle, IdsAreUniqueAndNotZero) {
  LocalExecutor executor;
  auto a = executor.spawn(boxed, 1);
  auto b = executor.spawn(boxed, 2);
  EXPECT_NE(a.id(), 0U);
  EXPECT_NE(a.id(), b.id());
}

TEST(JoinHandle, AfterTheJoinItIsFinishedAndAbortDoesNothing) {
  LocalExecutor executor;
  auto handle = executor.spawn(boxed, 1);
  executor.run_until(handle);
  EXPECT_TRUE(handle.is_finished());
  EXPECT_EQ(handle.id(), 0U);
  handle.abort();
}

TEST(JoinHandle, AssigningToItDetachesTheTaskItHad) {
  LocalExecutor executor;
  auto first = executor.spawn(boxed, 1);
  auto second = executor.spawn(boxed, 2);
  const TaskId id = second.id();
  first = std::move(second);
  EXPECT_EQ(first.id(), id);
  executor.run();
  EXPECT_EQ(*executor.run_until(first), 2);
}

TEST(JoinHandle, PolledOnAnotherThreadAndThenOnTheOwnersTheLatestWakerIsWoken) {
  LocalExecutor executor;
  CountingWaker foreign;
  auto yields = []() -> Async<int> {
    for (int i = 0; i < 300; ++i) co_await yield_now();
    co_return 3;
  };
  auto drive = [&]() -> Async<int> {
    auto handle = spawn(yields);
    std::thread([&] {
      Context cx(foreign.waker());
      EXPECT_TRUE(handle.poll(cx).is_pending());
    }).join();
    co_return co_await handle;
  };
  EXPECT_EQ(executor.run_until(drive()), 3);
  EXPECT_EQ(foreign.count(), 0U);
  EXPECT_EQ(foreign.clones(), 0U);
}

TEST(JoinHandle, TheHookGoesWithTheExecutorAndMayReplaceItself) {
  int calls = 0;
  auto executor = std::make_unique<LocalExecutor>();
  executor->on_unhandled([&](const UnhandledException&) {
    ++calls;
    executor->on_unhandled([&](const UnhandledException&) { calls += 10; });
  });
  executor->spawn(fails).detach();
  executor->spawn(fails).detach();
  auto kept = executor->spawn(fails);
  executor->run();
  EXPECT_EQ(calls, 11);
  executor.reset();
  ::testing::internal::CaptureStderr();
  kept.detach();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("nobody joined"), std::string::npos);
  EXPECT_EQ(calls, 11);
}

TEST(JoinHandle, WhatTheHookHoldsMayComeBackToTheExecutorWhenItEnds) {
  int calls = 0;
  {
    LocalExecutor executor;
    auto held = std::make_shared<Waker>();
    auto gives_waker_to_another_thread = [&]() -> Async<void> {
      auto cloned = poll_fn([&](Context& cx) {
        std::jthread([&] { *held = cx.waker(); }).join();
        return Poll<void>::ready();
      });
      co_await cloned;
    };
    executor.spawn(borrowed(gives_waker_to_another_thread())).detach();
    executor.run();
    executor.on_unhandled([&calls, keeps = std::move(held)](const UnhandledException&) {
      if (*keeps) ++calls;
    });
    executor.spawn(fails).detach();
    executor.run();
  }
  EXPECT_EQ(calls, 1);
}

TEST(JoinHandle, WhatTheHookHoldsMaySpawnWhenTheExecutorEnds) {
  int calls = 0;
  std::optional<JoinHandle<int>> last;
  {
    LocalExecutor executor;
    std::shared_ptr<Spawner> spawns(new Spawner(executor.spawner()), [&](Spawner* spawner) {
      last.emplace(spawner->spawn(fails));
      delete spawner;
    });
    executor.on_unhandled(
        [&calls, held = std::move(spawns)](const UnhandledException&) { ++calls; });
    executor.spawn(fails).detach();
    executor.run();
  }
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(last && last->is_finished());
  EXPECT_THROW(block_on(*last), JoinError);
}

TEST(JoinHandle, PolledOnAnotherThreadItKeepsOneWakerHoweverOften) {
  CountingWaker first;
  CountingWaker second;
  {
    LocalExecutor executor;
    auto handle = executor.spawn(boxed(3));
    for (int i = 0; i < 1000; ++i) {
      Context cx((i % 2 == 0 ? first : second).waker());
      EXPECT_TRUE(handle.poll(cx).is_pending());
      EXPECT_LE(first.clones() + second.clones(), 1U);
    }
    executor.run();
    EXPECT_EQ(second.count(), 1U);
    EXPECT_EQ(first.count(), 0U);
    Context cx(first.waker());
    EXPECT_EQ(*handle.poll(cx).value(), 3);
  }
  EXPECT_EQ(first.clones() + second.clones(), 0U);
}

TEST(JoinHandleDeathTest, AHookThatThrowsEndsTheProgramWithAMessage) {
  LocalExecutor executor;
  executor.on_unhandled([](const UnhandledException&) { throw 1; });
  executor.spawn(fails).detach();
  EXPECT_DEATH(executor.run(), "on_unhandled hook threw");
}

TEST(JoinHandleDeathTest, AwaitedAgainAfterTheJoinItSaysSo) {
  LocalExecutor executor;
  auto handle = executor.spawn(boxed, 1);
  executor.run_until(handle);
  EXPECT_DEATH(executor.run_until(handle), "after it was joined, detached or moved from");
}

}  // namespace
}  // namespace rouse
