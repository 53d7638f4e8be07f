// A LocalSet that runs inside a task.
#include "rouse/exec/await_local_set.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "time/paused.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;

Runtime runtime_of(bool current_thread) {
  if (current_thread) return Runtime::builder().current_thread().build();
  return Runtime::builder().worker_threads(2).build();
}

class AwaitLocalSet : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OnBothRuntimes, AwaitLocalSet, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Local" : "Pool"; });

Async<int> give_later(int value) {
  co_await yield_now();
  co_return value;
}

TEST_P(AwaitLocalSet, RunsAFutureAndTheTasksThatItSpawns) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<int> {
    LocalSet set;
    auto main = []() -> Async<int> {
      int shared = 0;  // no lock: all in one task
      std::vector<JoinHandle<>> tasks;
      for (int i = 0; i < 100; ++i) {
        tasks.push_back(spawn_local(
            [](int& sum) -> Async<void> {
              const int seen = sum;
              co_await give_later(1);
              sum += 1;
              EXPECT_GE(sum, seen);
            },
            std::ref(shared)));
      }
      for (auto& task : tasks) co_await task;
      co_return shared;
    };
    co_return co_await run_until(set, main());
  };
  EXPECT_EQ(runtime.block_on(run()), 100);
}

TEST_P(AwaitLocalSet, SpawnGoesToTheExecutorOfTheTask) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<void> {
    LocalSet set;
    auto main = [](LocalSet& own) -> Async<void> {
      auto outside = spawn(give_later, 1);
      auto inside = spawn_local([]() -> Async<int> {
        auto from_inside = spawn(give_later, 2);
        co_return co_await from_inside;
      });
      EXPECT_EQ(own.live_tasks(), 1U);
      EXPECT_EQ(co_await outside, 1);
      EXPECT_EQ(co_await inside, 2);
    };
    co_await run_until(set, main(set));
  };
  runtime.block_on(run());
}

TEST_P(AwaitLocalSet, TheFutureIsStillPartOfItsTask) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<void> {
    LocalSet set;
    const TaskId mine = task::id();
    auto main = []() -> Async<TaskId> {
      auto other = spawn_local([]() -> Async<TaskId> { co_return task::id(); });
      EXPECT_NE(co_await other, task::id());
      co_return task::id();
    };
    const TaskId inside = co_await run_until(set, main());
    EXPECT_EQ(inside, mine);
  };
  runtime.block_on(run());
}

TEST_P(AwaitLocalSet, RunAllEndsWithTheLastTask) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<int> {
    LocalSet set;
    int ended = 0;
    co_await run_all(set);  // it has none
    for (int i = 0; i < 200; ++i) {
      set.spawn_local(
             [](int& count) -> Async<void> {
               for (int k = 0; k < 3; ++k) co_await yield_now();
               ++count;
             },
             std::ref(ended))
          .detach();
    }
    co_await run_all(set);
    EXPECT_EQ(set.live_tasks(), 0U);
    co_return ended;
  };
  EXPECT_EQ(runtime.block_on(run()), 200);
}

TEST_P(AwaitLocalSet, TasksWaitForTimersAndForOtherThreads) {
  Runtime runtime = runtime_of(GetParam());
  auto made = sync::oneshot<int>();
  std::thread other;
  auto run = [&]() -> Async<void> {
    LocalSet set;
    auto sleeps = set.spawn_local([]() -> Async<void> { co_await sleep(5ms); });
    auto receives = set.spawn_local(std::move(made.second));
    other = std::thread([to = std::move(made.first)]() mutable { (void)to.send(7); });
    co_await run_all(set);
    EXPECT_TRUE(sleeps.is_finished());
    const auto received = co_await receives;
    EXPECT_EQ(received, 7);
  };
  runtime.block_on(run());
  other.join();
}

TEST_P(AwaitLocalSet, TasksThatAreLeftContinueWithTheNextCall) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<void> {
    LocalSet set;
    sync::Notify go;
    auto waits = set.spawn_local(
        [](sync::Notify& notify) -> Async<int> {
          co_await notify.notified();
          co_return 3;
        },
        std::ref(go));
    const Result<void> timed_out = co_await timeout(1ms, run_all(set)).result();
    EXPECT_FALSE(timed_out);
    EXPECT_EQ(set.live_tasks(), 1U);
    go.notify_one();
    EXPECT_EQ(co_await run_until(set, std::move(waits)), 3);
  };
  runtime.block_on(run());
}

TEST_P(AwaitLocalSet, ASetThatBlockedAThreadBeforeCanBeAwaited) {
  Runtime runtime = runtime_of(GetParam());
  LocalSet set;
  auto sleeps = set.spawn_local([]() -> Async<void> { co_await sleep(20ms); });
  set.block_on(runtime, give_later(1));  // the sleep is in the set's own timers now
  EXPECT_FALSE(sleeps.is_finished());
  auto run = [](LocalSet& all) -> Async<void> { co_await run_all(all); };
  runtime.block_on(run(set));
  EXPECT_TRUE(sleeps.is_finished());
  set.spawn_local(give_later(1)).detach();
  set.block_on(runtime, sleep(1ms));
  EXPECT_EQ(set.live_tasks(), 0U);
}

TEST_P(AwaitLocalSet, AnExceptionOfTheFutureComesOutAndTheTasksStay) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<void> {
    LocalSet set;
    auto task = set.spawn_local(give_later(5));
    auto throws = []() -> Async<void> {
      co_await yield_now();
      throw std::runtime_error("no");
    };
    bool caught = false;
    try {
      co_await run_until(set, throws());
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(co_await run_until(set, std::move(task)), 5);
  };
  runtime.block_on(run());
}

TEST_P(AwaitLocalSet, TwoSetsTakeTurnsInOneTask) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<int> {
    LocalSet first;
    LocalSet second;
    auto made = sync::channel<int>(1);
    first
        .spawn_local(
            [](sync::Sender<int> to) -> Async<void> {
              for (int i = 1; i <= 10; ++i) EXPECT_TRUE(co_await to.send(i));
            },
            std::move(made.first))
        .detach();
    auto sum = second.spawn_local(
        [](sync::Receiver<int> from) -> Async<int> {
          int total = 0;
          while (auto message = co_await from.recv()) total += *message;
          co_return total;
        },
        std::move(made.second));
    co_await join(run_all(first), run_all(second));
    co_return co_await sum;
  };
  EXPECT_EQ(runtime.block_on(run()), 55);
}

TEST_P(AwaitLocalSet, FuturesOfOneSetMayHaveAWakerEach) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<std::vector<int>> {
    LocalSet set;
    auto waits = [](sync::OneshotReceiver<int> from) -> Async<int> {
      const auto value = co_await from;
      co_return value.value_or(0);
    };
    std::vector<sync::OneshotSender<int>> senders;
    std::vector<RunUntil<JoinHandle<int>>> all;
    for (int i = 0; i < 3; ++i) {
      auto made = sync::oneshot<int>();
      senders.push_back(std::move(made.first));
      all.push_back(run_until(set, set.spawn_local(waits, std::move(made.second))));
    }
    auto sends = spawn(
        [](std::vector<sync::OneshotSender<int>> to) -> Async<void> {
          for (std::size_t i = to.size(); i-- != 0;) {  // the one that was polled last, first
            for (int k = 0; k < 5; ++k) co_await yield_now();
            (void)to[i].send(static_cast<int>(i));
          }
        },
        std::move(senders));
    auto results = co_await join_all(std::move(all));
    co_await sends;
    co_return results;
  };
  EXPECT_EQ(runtime.block_on(run()), (std::vector{0, 1, 2}));
}

TEST_P(AwaitLocalSet, TwoFuturesOfOneSetInOneTaskDoNotForgetEachOther) {
  Runtime runtime = runtime_of(GetParam());
  auto run = []() -> Async<void> {
    for (int round = 0; round < 20; ++round) {
      LocalSet set;
      auto waits = [](sync::OneshotReceiver<int> from) -> Async<int> {
        const auto value = co_await from;
        co_return value.value_or(0);
      };
      auto first = sync::oneshot<int>();
      auto second = sync::oneshot<int>();
      auto soon = set.spawn_local(waits, std::move(first.second));
      auto later = set.spawn_local(waits, std::move(second.second));
      auto sends = spawn(
          [](auto to, auto then) -> Async<void> {
            (void)to.send(1);
            co_await yield_now();
            (void)then.send(2);
          },
          std::move(first.first), std::move(second.first));
      {
        const auto never_polled = run_all(set);
      }
      const auto [two, one] =
          co_await join(run_until(set, std::move(later)), run_until(set, std::move(soon)));
      EXPECT_EQ(one + two, 3);
      co_await sends;
    }
  };
  runtime.block_on(run());
}

TEST_P(AwaitLocalSet, ATaskThatIsAbortedDropsItsSet) {
  Runtime runtime = runtime_of(GetParam());
  auto held = std::make_shared<int>(1);
  auto run = [](std::shared_ptr<int> kept) -> Async<void> {
    LocalSet set;
    auto waits = [](std::shared_ptr<int> inner) -> Async<void> {
      co_await pending_forever<>();
      (void)inner;
    };
    set.spawn_local(waits, std::move(kept)).detach();
    co_await run_all(set);
  };
  auto join_it = [&]() -> Async<bool> {
    auto task = spawn(run, held);
    co_await sleep(2ms);
    task.abort();
    try {
      co_await task;
    } catch (const JoinError&) {
      co_return true;
    }
    co_return false;
  };
  EXPECT_TRUE(runtime.block_on(join_it()));
  EXPECT_EQ(held.use_count(), 1);
}

TEST(AwaitLocalSet, APausedClockJumpsForItsTasks) {
  test::run_paused([]() -> Async<void> {
    LocalSet set;
    const time::Instant start = time::now();
    auto first = set.spawn_local([]() -> Async<time::Instant> {
      co_await sleep(1h);
      co_return time::now();
    });
    auto second = set.spawn_local([]() -> Async<time::Instant> {
      co_await sleep(2h);
      co_return time::now();
    });
    co_await run_all(set);
    EXPECT_EQ(co_await first - start, 1h);
    EXPECT_EQ(co_await second - start, 2h);
    EXPECT_EQ(time::now() - start, 2h);
  });
}

TEST(AwaitLocalSet, IsCleanWhereverItIsDropped) {
  LocalSet set;
  sync::Notify go;
  auto waits = [](sync::Notify& notify) -> Async<void> { co_await notify.notified(); };
  const auto report = rouse::testing::drop_at_each_poll(
      [&] {
        set.spawn_local(waits, std::ref(go)).detach();
        return run_all(set);
      },
      [&](std::size_t) { go.notify_waiters(); },
      [&](std::size_t) {
        rouse::testing::PollHarness rest(run_all(set));
        (void)rest.poll();  // now it waits, if it had not begun
        go.notify_waiters();
        EXPECT_TRUE(rest.poll_until_ready(3).is_ready());
        EXPECT_EQ(set.live_tasks(), 0U);
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

TEST(AwaitLocalSet, WorksUnderAPlainBlockOn) {
  LocalSet set;
  auto task = set.spawn_local(give_later, 2);
  block_on(run_all(set));
  EXPECT_EQ(block_on(run_until(set, std::move(task))), 2);
}

TEST(AwaitLocalSet, MayBeAPartOfALocalExecutorsTask) {
  LocalExecutor executor;
  auto run = []() -> Async<int> {
    LocalSet set;
    auto main = []() -> Async<int> {
      auto task = spawn_local(give_later, 4);
      co_return co_await task;
    };
    co_return co_await run_until(set, main());
  };
  EXPECT_EQ(executor.run_until(run()), 4);
}

// Other threads wake, abort and spawn while the task that runs the set moves between workers.
TEST(AwaitLocalSetStress, NoWakeIsLost) {
  Runtime runtime = Runtime::builder().worker_threads(3).build();
  constexpr int rounds = 50;
  auto run = []() -> Async<void> {
    for (int round = 0; round < rounds; ++round) {
      LocalSet set;
      auto echo = [](sync::Receiver<int> from, sync::Sender<int> to) -> Async<void> {
        while (auto message = co_await from.recv()) (void)co_await to.send(*message);
      };
      auto first = sync::channel<int>(1);
      auto second = sync::channel<int>(1);
      set.spawn_local(echo, std::move(first.second), std::move(second.first)).detach();
      auto sends = spawn(
          [](sync::Sender<int> to) -> Async<void> {
            for (int i = 0; i < 50; ++i) (void)co_await to.send(i);
          },
          std::move(first.first));
      auto receives = spawn(
          [](sync::Receiver<int> from) -> Async<int> {
            int count = 0;
            while (co_await from.recv()) ++count;
            co_return count;
          },
          std::move(second.second));
      co_await run_all(set);
      co_await sends;
      EXPECT_EQ(co_await receives, 50);
    }
  };
  runtime.block_on(run());
}

TEST(AwaitLocalSetDeathTest, ATaskOfTheSetThatAwaitsTheSetIsAMistake) {
  auto misuse = [] {
    LocalSet set;
    auto run = [](LocalSet& own) -> Async<void> { co_await run_all(own); };
    set.spawn_local(borrowed(run(set))).detach();
    block_on(run_all(set));
  };
  EXPECT_DEATH(misuse(), "by a task that it runs");
}

}  // namespace
