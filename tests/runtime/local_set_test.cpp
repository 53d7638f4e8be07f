// A LocalSet beside a current-thread runtime: nobody but this thread would run the runtime's tasks.
#include "rouse/exec/local_set.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;

Async<std::thread::id> here() {
  co_await yield_now();
  co_return std::this_thread::get_id();
}

TEST(LocalSetBesideACurrentThreadRuntime, WhatItSpawnsRunsOnThisThread) {
  const auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  auto main = []() -> Async<void> {
    EXPECT_EQ(co_await spawn(here()), std::this_thread::get_id());
    EXPECT_EQ(co_await spawn_local(here()), std::this_thread::get_id());
  };
  set.block_on(runtime, main());
  set.block_on(runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, TheTwoWaitForEachOther) {
  const auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  auto main = []() -> Async<int> {
    auto [to_runtime, in_runtime] = sync::oneshot<int>();
    auto [to_set, in_set] = sync::oneshot<int>();
    auto adds = [](auto from, auto to) -> Async<void> {
      auto got = co_await from;
      static_cast<void>(to.send(*got + 1));
    };
    auto there = spawn(adds(std::move(in_runtime), std::move(to_set)));
    static_cast<void>(to_runtime.send(1));
    auto got = co_await in_set;
    co_await there;
    co_return *got;
  };
  EXPECT_EQ(set.block_on(runtime, main()), 2);
}

TEST(LocalSetBesideACurrentThreadRuntime, BothMaySleepAndBlock) {
  auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  auto sleeps = [](std::chrono::milliseconds time) -> Async<int> {
    co_await sleep(time);
    co_return 1;
  };
  auto main = [&]() -> Async<int> {
    auto there = spawn(sleeps(5ms));
    auto local = spawn_local(sleeps(3ms));
    const int slept = co_await sleeps(1ms);
    const int blocked = co_await spawn_blocking([] {
      std::this_thread::sleep_for(2ms);
      return 1;
    });
    co_return slept + blocked + co_await there + co_await local;
  };
  EXPECT_EQ(set.block_on(runtime, main()), 4);
  EXPECT_EQ(runtime.block_on(sleeps(1ms)), 1);
}

TEST(LocalSetBesideACurrentThreadRuntime, AWakeFromAnotherThreadComesThrough) {
  const auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  for (int round = 0; round < 100; ++round) {
    auto [sender, receiver] = sync::oneshot<int>();
    std::jthread other([to = std::move(sender)]() mutable { static_cast<void>(to.send(1)); });
    EXPECT_EQ(*set.block_on(runtime, std::move(receiver)), 1);
  }
}

TEST(LocalSetBesideACurrentThreadRuntime, TasksThatAreLeftGoOnWithTheNextCallOfEither) {
  auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  int done = 0;
  auto counts = [&]() -> Async<void> {
    for (int i = 0; i < 10; ++i) co_await yield_now();
    ++done;
  };
  auto leaves = [&]() -> Async<void> {
    spawn(borrowed(counts())).detach();
    spawn_local(borrowed(counts())).detach();
    co_return;
  };
  set.block_on(runtime, leaves());
  auto waits_for = [&](int count) -> Async<void> {
    while (done < count) co_await yield_now();
  };
  set.block_on(runtime, waits_for(2));
  EXPECT_EQ(done, 2);
  EXPECT_EQ(set.live_tasks(), 0U);
}

}  // namespace
}  // namespace rouse
