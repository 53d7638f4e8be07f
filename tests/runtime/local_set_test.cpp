// A LocalSet beside a current-thread runtime: nobody but this thread would run the runtime's tasks.
#include "rouse/exec/local_set.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/pause.hpp"
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

// --- Another thread runs the runtime, too. ---

using Id = std::thread::id;

Async<Id> id_after(sync::OneshotReceiver<int> receiver) {
  static_cast<void>(co_await receiver);
  co_return std::this_thread::get_id();
}

TEST(LocalSetBesideACurrentThreadRuntime, GivesWayToAThreadThatCallsBlockOn) {
  auto runtime = Runtime::builder().current_thread().build();
  std::promise<void> set_runs_it;
  auto [end_set, ended] = sync::oneshot<int>();
  std::jthread other([&, end = std::move(end_set)]() mutable {
    set_runs_it.get_future().wait();
    auto main = []() -> Async<void> {
      EXPECT_EQ(co_await here(), std::this_thread::get_id());
      EXPECT_EQ(co_await spawn(here()), std::this_thread::get_id());
    };
    for (int round = 0; round < 100; ++round) {
      const Id mine = std::this_thread::get_id();
      EXPECT_EQ(runtime.block_on(here()), mine);
      runtime.block_on(main());
    }
    static_cast<void>(end.send(1));
  });
  LocalSet set;
  auto main = [&]() -> Async<void> {
    EXPECT_EQ(co_await spawn(here()), std::this_thread::get_id());
    auto local = spawn_local(id_after(std::move(ended)));
    set_runs_it.set_value();
    EXPECT_EQ(co_await local, std::this_thread::get_id());
    co_await spawn(here());  // whoever runs it now
  };
  set.block_on(runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, RunsItWhenTheOtherThreadHasLeft) {
  auto runtime = Runtime::builder().current_thread().build();
  auto [end_other, other_ends] = sync::oneshot<int>();
  auto [other_left, left] = sync::oneshot<int>();
  std::promise<void> other_runs_it;
  std::jthread other([&, until = std::move(other_ends), tell = std::move(other_left)]() mutable {
    auto main = [&]() -> Async<void> {
      other_runs_it.set_value();
      static_cast<void>(co_await until);
    };
    runtime.block_on(main());
    static_cast<void>(tell.send(1));
  });
  other_runs_it.get_future().wait();
  LocalSet set;
  auto main = [&]() -> Async<void> {
    EXPECT_EQ(co_await spawn(here()), other.get_id());
    auto waits = spawn(id_after(std::move(left)));
    static_cast<void>(end_other.send(1));
    EXPECT_EQ(co_await waits, std::this_thread::get_id());
  };
  set.block_on(runtime, main());
}

/// The set is told that the other thread has left, but when it looks that one is there again.
TEST(LocalSetBesideACurrentThreadRuntime, RunsItThoughTheOtherThreadCameTwice) {
  auto runtime = Runtime::builder().current_thread().build();
  std::atomic<bool> set_is_in_a_poll = false;
  std::atomic<bool> other_is_there_again = false;
  std::atomic<bool> set_has_looked = false;
  std::promise<void> other_runs_it;
  auto [tell, told] = sync::oneshot<int>();
  auto until = [](const std::atomic<bool>& flag) -> Async<void> {
    while (!flag.load()) co_await yield_now();
  };
  std::jthread other([&, sender = std::move(tell)]() mutable {
    auto first = [&]() -> Async<void> {
      other_runs_it.set_value();
      co_await until(set_is_in_a_poll);
    };
    runtime.block_on(first());
    auto second = [&]() -> Async<void> {
      other_is_there_again = true;
      co_await until(set_has_looked);
    };
    runtime.block_on(second());
    auto sends = [](sync::OneshotSender<int> to) -> Async<void> {
      static_cast<void>(to.send(1));
      co_return;
    };
    runtime.spawn(sends, std::move(sender)).detach();
  });
  other_runs_it.get_future().wait();
  LocalSet set;
  auto main = [&]() -> Async<int> {
    set_is_in_a_poll = true;
    while (!other_is_there_again.load()) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) co_await yield_now();  // in which it looks
    set_has_looked = true;
    co_return (co_await told).value_or(0);
  };
  EXPECT_EQ(set.block_on(runtime, main()), 1);
}

TEST(LocalSetBesideACurrentThreadRuntime, OfTwoSetsTheSecondRunsItAfterTheFirst) {
  const auto runtime = Runtime::builder().current_thread().build();
  auto [end_first, first_ends] = sync::oneshot<int>();
  auto [first_left, left] = sync::oneshot<int>();
  std::promise<void> first_runs_it;
  std::jthread other([&, until = std::move(first_ends), tell = std::move(first_left)]() mutable {
    LocalSet first;
    auto main = [&]() -> Async<void> {
      EXPECT_EQ(co_await spawn(here()), std::this_thread::get_id());
      first_runs_it.set_value();
      static_cast<void>(co_await until);
    };
    first.block_on(runtime, main());
    static_cast<void>(tell.send(1));
  });
  first_runs_it.get_future().wait();
  LocalSet second;
  auto main = [&]() -> Async<void> {
    EXPECT_EQ(co_await spawn(here()), other.get_id());
    auto waits = spawn(id_after(std::move(left)));
    static_cast<void>(end_first.send(1));
    EXPECT_EQ(co_await waits, std::this_thread::get_id());
  };
  second.block_on(runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, NoTaskIsLostAsTheRuntimeGoesToAndFro) {
  auto runtime = Runtime::builder().current_thread().build();
  std::promise<void> other_began;
  std::atomic<bool> is_done{false};
  std::jthread other([&] {
    other_began.set_value();
    while (!is_done) runtime.block_on(here());
  });
  other_began.get_future().wait();
  LocalSet set;
  auto main = []() -> Async<void> {
    for (int round = 0; round < 2000; ++round) {
      auto there = spawn(here());
      co_await spawn_local(here());
      co_await there;
    }
  };
  set.block_on(runtime, main());
  is_done = true;
}

// --- The runtime ends meanwhile. ---

Async<void> is_cancelled(JoinHandle<Id> handle) {
  try {
    co_await handle;
    ADD_FAILURE() << "nobody has sent";
  } catch (const JoinError& error) {
    EXPECT_TRUE(error.is_cancelled());
  }
}

TEST(LocalSetBesideACurrentThreadRuntime, AnotherThreadEndsTheRuntimeThatItRuns) {
  std::optional<Runtime> runtime = Runtime::builder().current_thread().build();
  std::promise<void> set_runs_it;
  std::jthread other([&] {
    set_runs_it.get_future().wait();
    runtime.reset();
  });
  LocalSet set;
  auto main = [&]() -> Async<void> {
    auto [sender, receiver] = sync::oneshot<int>();
    EXPECT_EQ(co_await spawn(here()), std::this_thread::get_id());
    auto waits = spawn(id_after(std::move(receiver)));
    set_runs_it.set_value();
    co_await is_cancelled(std::move(waits));
    co_await sleep(1ms);
    co_await spawn_local(here());
  };
  set.block_on(*runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, TheThreadThatRunsTheRuntimeEndsIt) {
  std::optional<Runtime> runtime = Runtime::builder().current_thread().build();
  auto [end_other, other_ends] = sync::oneshot<int>();
  std::promise<void> other_runs_it;
  std::jthread other([&, until = std::move(other_ends)]() mutable {
    auto main = [&]() -> Async<void> {
      other_runs_it.set_value();
      static_cast<void>(co_await until);
    };
    runtime->block_on(main());
    runtime->shutdown_timeout(1h);
  });
  other_runs_it.get_future().wait();
  LocalSet set;
  auto main = [&]() -> Async<void> {
    auto [sender, receiver] = sync::oneshot<int>();
    auto waits = spawn(id_after(std::move(receiver)));
    static_cast<void>(end_other.send(1));
    co_await is_cancelled(std::move(waits));
    co_await sleep(1ms);
  };
  set.block_on(*runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, ATaskOfTheSetEndsTheRuntime) {
  auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  auto main = [&]() -> Async<void> {
    auto [sender, receiver] = sync::oneshot<int>();
    auto waits = spawn(id_after(std::move(receiver)));
    co_await spawn(here());
    runtime.shutdown_background();
    co_await is_cancelled(std::move(waits));
    co_await sleep(1ms);
    co_await spawn_local(here());
  };
  set.block_on(runtime, main());
}

// --- With a clock that stands still. ---

Async<void> sleeps_and_notes(std::vector<int>& order, std::chrono::seconds time) {
  co_await sleep(time);
  order.push_back(static_cast<int>(time.count()));
}

/// What it waits for is of the runtime beside which it runs now, whatever became of the first.
class LocalSetBesideTwoRuntimes : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime runtime() {
    auto builder = Runtime::builder();
    if (GetParam()) {
      builder.current_thread();
    } else {
      builder.worker_threads(1);
    }
    return builder.build();
  }
  static Async<std::size_t> reads_and_sleeps() {
    auto [a, b] = net::UnixStream::pair();
    auto reads = [](net::UnixStream from) -> Async<std::size_t> {
      std::array<char, 8> buf;
      co_return co_await from.read(buf);
    };
    auto read = spawn_local(reads, std::move(b));
    co_await sleep(1ms);
    co_await a.write_all(std::string_view("abc"));
    co_return co_await read;
  }
  LocalSet set_;
};
INSTANTIATE_TEST_SUITE_P(Runtimes, LocalSetBesideTwoRuntimes, ::testing::Bool());

TEST_P(LocalSetBesideTwoRuntimes, TheFirstIsGone) {
  {
    auto first = runtime();
    EXPECT_EQ(set_.block_on(first, reads_and_sleeps()), 3U);
  }
  auto second = runtime();
  EXPECT_EQ(set_.block_on(second, reads_and_sleeps()), 3U);
}

TEST_P(LocalSetBesideTwoRuntimes, TheFirstIsNotRun) {
  auto first = runtime();
  EXPECT_EQ(set_.block_on(first, reads_and_sleeps()), 3U);
  auto second = runtime();
  EXPECT_EQ(set_.block_on(second, reads_and_sleeps()), 3U);
  EXPECT_EQ(set_.block_on(first, reads_and_sleeps()), 3U);
}

TEST(LocalSetBesideACurrentThreadRuntime, APausedClockOfAnotherRuntimeDoesNotHoldIt) {
  auto paused = Runtime::builder().current_thread().start_paused().build();
  auto other = Runtime::builder().current_thread().build();
  LocalSet set;
  set.block_on(paused, yield_now());
  set.block_on(other, sleep(1ms));
}

TEST(LocalSetBesideACurrentThreadRuntime, APausedClockJumpsToTheNextTimerOfEither) {
  const auto runtime = Runtime::builder().current_thread().start_paused().build();
  LocalSet set;
  std::vector<int> order;
  auto main = [&]() -> Async<void> {
    const auto start = time::now();
    co_await sleep(60s);  // of the set alone
    EXPECT_EQ(time::now() - start, 60s);
    auto a = spawn(borrowed(sleeps_and_notes(order, 2s)));
    auto b = spawn_local(borrowed(sleeps_and_notes(order, 1s)));
    auto c = spawn_local(borrowed(sleeps_and_notes(order, 3s)));
    auto d = spawn(borrowed(sleeps_and_notes(order, 4s)));
    co_await d;
    EXPECT_EQ(time::now() - start, 64s);
    co_await a;
    co_await b;
    co_await c;
  };
  set.block_on(runtime, main());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(LocalSetBesideACurrentThreadRuntime, APausedClockStandsWhileEitherCanGoOn) {
  auto runtime = Runtime::builder().current_thread().start_paused().build();
  LocalSet set;
  auto is_busy = [](std::chrono::milliseconds left) -> Async<void> {
    const auto start = time::now();
    for (int i = 0; i < 1000; ++i) co_await yield_now();
    EXPECT_EQ(time::now(), start);
    co_await spawn_blocking([&] { std::this_thread::sleep_for(left); });
    EXPECT_EQ(time::now(), start);
  };
  auto main = [&]() -> Async<void> {
    auto sleeps = spawn(borrowed(sleep(1h)));
    auto sleeps_too = spawn_local(borrowed(sleep(1h)));
    co_await spawn(is_busy(2ms));
    co_await spawn_local(is_busy(2ms));
    co_await sleeps;
    co_await sleeps_too;
  };
  set.block_on(runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntime, AdvanceStopsAtTheTimersOfTheSet) {
  const auto runtime = Runtime::builder().current_thread().start_paused().build();
  LocalSet set;
  auto slept = [](std::chrono::seconds time) -> Async<std::chrono::nanoseconds> {
    const auto start = time::now();
    co_await sleep(time);
    co_return time::now() - start;
  };
  auto advances = []() -> Async<void> { co_await time::advance(5s); };
  auto main = [&]() -> Async<void> {
    auto local = spawn_local(slept(2s));
    co_await yield_now();  // now it sleeps
    co_await spawn(advances());
    EXPECT_TRUE(local.is_finished());
    EXPECT_EQ(co_await local, 2s);
  };
  set.block_on(runtime, main());
}

TEST(LocalSetBesideACurrentThreadRuntimeDeathTest, ATaskOfTheRuntimeThatDestroysItIsTold) {
  const auto runtime = Runtime::builder().current_thread().build();
  std::optional<LocalSet> set(std::in_place);
  auto destroys = [&]() -> Async<void> {
    set.reset();
    co_return;
  };
  auto main = [&]() -> Async<void> { co_await spawn(borrowed(destroys())); };
  EXPECT_DEATH(set->block_on(runtime, main()),
               "runs beside it on this thread: let run or block_on");
}

TEST(LocalSetBesideACurrentThreadRuntimeDeathTest, ATaskOfTheSetThatPausesTheClockIsToldWhoMay) {
  const auto runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  auto pauses = []() -> Async<void> {
    time::pause();
    co_return;
  };
  EXPECT_DEATH(set.block_on(runtime, pauses()), "do it in a task of the runtime");
}

}  // namespace
}  // namespace rouse
