// LocalExecutor: order, waking, running, idling.
#include "rouse/exec/local_executor.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {
namespace {

using testing::Gate;

Async<int> forty_two() { co_return 42; }
Async<void> log(std::vector<int>* out, int value) {
  out->push_back(value);
  co_return;
}

TEST(LocalExecutor, RunWithoutTasksReturnsAtOnce) {
  LocalExecutor executor;
  executor.run();
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(LocalExecutor, RunsTasksInTheOrderTheyWereSpawned) {
  LocalExecutor executor;
  std::vector<int> out;
  for (int i = 0; i < 200; ++i) executor.spawn(log, &out, i).detach();
  executor.run();
  ASSERT_EQ(out.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i);
}

TEST(LocalExecutor, TasksThatYieldTakeTurns) {
  LocalExecutor executor;
  std::string out;
  auto task = [&out](char name) -> Async<void> {
    for (int i = 0; i < 3; ++i) {
      out += name;
      co_await yield_now();
    }
  };
  executor.spawn(task, 'a').detach();
  executor.spawn(task, 'b').detach();
  executor.run();
  EXPECT_EQ(out, "ababab");
}

TEST(LocalExecutor, RunEndsWhenNoTaskIsLeftAlsoIfTasksSpawnOthers) {
  LocalExecutor executor;
  int ran = 0;
  auto leaf = [&ran]() -> Async<void> {
    ++ran;
    co_return;
  };
  auto spawner = [&]() -> Async<void> {
    for (int i = 0; i < 10; ++i) {
      spawn(leaf).detach();
      co_await yield_now();
    }
  };
  executor.spawn(spawner).detach();
  executor.run();
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(LocalExecutor, RunUntilGivesTheResultAndLeavesOtherTasksAsTheyAre) {
  LocalExecutor executor;
  auto never = executor.spawn(pending_forever<void>());
  EXPECT_EQ(executor.run_until(forty_two()), 42);
  EXPECT_EQ(executor.live_tasks(), 1U);
  EXPECT_FALSE(never.is_finished());
}

TEST(LocalExecutor, RunUntilThrowsWhatTheFutureThrows) {
  LocalExecutor executor;
  auto fails = []() -> Async<int> {
    co_await yield_now();
    throw std::runtime_error("no luck");
  };
  EXPECT_THROW(executor.run_until(fails()), std::runtime_error);
}

TEST(LocalExecutor, AWakeDuringAPollCausesExactlyOneMorePoll) {
  LocalExecutor executor;
  int polls = 0;
  executor.run_until(poll_fn([&](Context& cx) -> Poll<void> {
    if (++polls == 2) return Poll<void>::ready();
    for (int i = 0; i < 5; ++i) cx.waker().wake_by_ref();
    return pending;
  }));
  EXPECT_EQ(polls, 2);
}

TEST(LocalExecutor, ManyWakesBeforeThePollCostOnePoll) {
  LocalExecutor executor;
  Waker kept;
  int polls = 0;
  bool done = false;
  executor
      .spawn(poll_fn([&](Context& cx) -> Poll<void> {
        ++polls;
        kept = cx.waker();
        if (done) return Poll<void>::ready();
        return pending;
      }))
      .detach();
  auto drive = [&]() -> Async<void> {
    co_await yield_now();
    EXPECT_EQ(polls, 1);
    for (int i = 0; i < 7; ++i) kept.wake_by_ref();
    co_await yield_now();
    EXPECT_EQ(polls, 2);
    done = true;
    kept.wake_by_ref();
  };
  executor.spawn(drive).detach();
  executor.run();
  EXPECT_EQ(polls, 3);
}

TEST(LocalExecutor, AWakeAfterCompletionDoesNothing) {
  LocalExecutor executor;
  Waker kept;
  int polls = 0;
  executor.run_until(poll_fn([&](Context& cx) -> Poll<void> {
    ++polls;
    kept = cx.waker();
    return Poll<void>::ready();
  }));
  kept.wake_by_ref();
  executor.run();
  EXPECT_EQ(polls, 1);
}

TEST(LocalExecutor, AWakerMayOutliveItsTaskAndItsExecutor) {
  Waker kept;
  {
    LocalExecutor executor;
    auto keep = [&]() -> Async<void> {
      auto keeps = [&](Context& cx) -> Poll<void> {
        kept = cx.waker();
        return pending;
      };
      co_await poll_fn(keeps);
    };
    executor.spawn(keep).detach();
    executor.run_until(yield_now());
  }
  Waker copy = kept;
  copy.wake_by_ref();
  std::move(copy).wake();
  std::thread other([w = std::move(kept)]() mutable { std::move(w).wake(); });
  other.join();
}

TEST(LocalExecutor, IsWokenFromAnotherThread) {
  LocalExecutor executor;
  Gate<int> gate;
  std::thread other([&] { gate.open(7); });
  EXPECT_EQ(executor.run_until(gate.wait()), 7);
  other.join();
}

TEST(LocalExecutor, ASpawnerPutsTasksOnItFromAnotherThread) {
  LocalExecutor executor;
  const auto here = std::this_thread::get_id();
  Gate<void> done;
  std::thread other([spawner = executor.spawner(), here, &done] {
    auto task = [here]() -> Async<bool> { co_return std::this_thread::get_id() == here; };
    EXPECT_TRUE(block_on(spawner.spawn(task)));
    done.open();
  });
  executor.run_until(done.wait());
  other.join();
}

TEST(LocalExecutor, ASpawnerOfAnExecutorThatIsGoneCancelsTheTask) {
  auto executor = std::make_unique<LocalExecutor>();
  const Spawner spawner = executor->spawner();
  executor.reset();
  bool destroyed = false;
  struct Tell {
    explicit Tell(bool& out) : flag(&out) {}
    Tell(Tell&& other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
    ~Tell() {
      if (flag) *flag = true;
    }
    bool* flag;
  };
  auto task = [](Tell) -> Async<void> { co_return; };
  auto handle = spawner.spawn(task, Tell(destroyed));
  EXPECT_TRUE(handle.is_finished());
  EXPECT_TRUE(destroyed);
  EXPECT_THROW(block_on(handle), JoinError);
}

TEST(LocalExecutor, DestroysItsTasksInAnyStateExactlyOnce) {
  struct Count {
    explicit Count(int& out) : n(&out) {}
    Count(const Count& other) : n(other.n) { ++*n; }
    ~Count() { --*n; }
    int* n;
  };
  int alive = 1;
  Count original(alive);
  {
    Gate<void> gate;
    LocalExecutor executor;
    auto waits = [&gate](Count) -> Async<void> { co_await gate.wait(); };
    auto spawns_when_destroyed = [](Count c) -> Async<void> {
      struct OnExit {
        explicit OnExit(Count& k) : count(k) {}
        ~OnExit() {
          spawn([](Count) -> Async<void> { co_return; }, count).detach();
        }
        Count& count;
      } on_exit(c);
      co_await pending_forever<void>();
    };
    executor.spawn(waits, original).detach();
    executor.spawn(spawns_when_destroyed, original).detach();
    executor.run_until(yield_now());
    executor.spawn(waits, original).detach();  // never polled
    auto handle = executor.spawn(waits, original);
    handle.abort();
  }
  EXPECT_EQ(alive, 1);
}

TEST(LocalExecutor, AHandleOfATaskWhoseExecutorIsGoneReportsCancellation) {
  auto executor = std::make_unique<LocalExecutor>();
  auto waits = executor->spawn(pending_forever<int>());
  auto done = executor->spawn(forty_two);
  executor->run_until(yield_now());
  executor.reset();
  EXPECT_THROW(block_on(waits), JoinError);
  EXPECT_EQ(block_on(done), 42);
}

TEST(LocalExecutor, AnIdleExecutorUsesNoCpu) {
  LocalExecutor executor;
  Gate<void> gate;
  std::thread other([&] {
    // Long enough to see a spinning executor; nothing waits for a certain time to have passed.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.open();
  });
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  executor.run_until(gate.wait());
  getrusage(RUSAGE_THREAD, &after);
  other.join();
  const auto micros = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
  EXPECT_LT(micros(after.ru_utime) + micros(after.ru_stime) - micros(before.ru_utime) -
                micros(before.ru_stime),
            20'000);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 20);
}

TEST(LocalExecutor, LooksAtItsParkAlsoWhileTasksKeepItBusy) {
  struct CountingPark final : Park {
    void park(std::chrono::nanoseconds) override { ++parks; }
    void poll() override { ++polls; }
    void unpark() noexcept override {}
    int parks = 0;
    int polls = 0;
  } park;
  LocalExecutor executor(park);
  auto busy = []() -> Async<void> {
    for (int i = 0; i < 1000; ++i) co_await yield_now();
  };
  executor.run_until(busy());
  EXPECT_GE(park.polls, 1000 / 64);
  EXPECT_EQ(park.parks, 0);
}

TEST(LocalExecutorDeathTest, RunInsideATaskIsRefused) {
  LocalExecutor executor;
  LocalExecutor inner;
  auto nested = [&]() -> Async<void> {
    inner.run();
    co_return;
  };
  EXPECT_DEATH(executor.run_until(nested()), "blocking call inside a task.*co_await");
}

TEST(LocalExecutorDeathTest, DestroyingItInsideItsOwnTaskIsRefused) {
  auto* executor = new LocalExecutor;
  auto suicide = [&]() -> Async<void> {
    delete executor;
    co_return;
  };
  EXPECT_DEATH(executor->run_until(suicide()), "destroyed inside one of its own tasks");
  delete executor;
}

TEST(BlockOn, SleepsUntilAnotherThreadWakes) {
  Gate<std::string> gate;
  std::thread other([&] { gate.open("hello"); });
  EXPECT_EQ(block_on(gate.wait()), "hello");
  other.join();
}

TEST(BlockOn, TakesLvaluesReferencesAndVoid) {
  int x = 1;
  auto by_reference = [](int& r) -> Async<int&> { co_return r; };
  EXPECT_EQ(&block_on(by_reference(x)), &x);
  auto nothing = []() -> Async<void> { co_return; };
  auto lvalue = nothing();
  block_on(lvalue);
}

TEST(BlockOnDeathTest, InsideATaskIsRefusedWithAHint) {
  LocalExecutor executor;
  auto blocks = []() -> Async<void> {
    block_on(forty_two());
    co_return;
  };
  EXPECT_DEATH(executor.run_until(blocks()), "co_await the future instead");
}

}  // namespace
}  // namespace rouse
