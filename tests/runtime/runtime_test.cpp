// Runtime: what it runs, where, and how it ends.
#include "rouse/runtime/runtime.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/run.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/time/sleep.hpp"

#include "support/sanitizer.hpp"

namespace rouse {
namespace {

using testing::Gate;
using namespace std::chrono_literals;

Async<int> one() { co_return 1; }
Async<int> sum_of(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await spawn(one);
  co_return sum;
}

enum class Kind : std::uint8_t { one_worker, four_workers, current_thread };
class EveryRuntime : public ::testing::TestWithParam<Kind> {
 protected:
  static RuntimeBuilder builder() {
    auto made = Runtime::builder();
    if (GetParam() == Kind::one_worker) made.worker_threads(1);
    if (GetParam() == Kind::four_workers) made.worker_threads(4);
    if (GetParam() == Kind::current_thread) made.current_thread();
    return made;
  }
};
const char* name_of(const ::testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::one_worker:
      return "one_worker";
    case Kind::four_workers:
      return "four_workers";
    case Kind::current_thread:
      return "current_thread";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(Kinds, EveryRuntime,
                         ::testing::Values(Kind::one_worker, Kind::four_workers,
                                           Kind::current_thread),
                         name_of);

TEST_P(EveryRuntime, BlockOnGivesTheResult) {
  Runtime rt = builder().build();
  EXPECT_EQ(rt.block_on(sum_of(100)), 100);
  EXPECT_EQ(rt.block_on(sum_of(5)), 5);
}

TEST_P(EveryRuntime, BlockOnThrowsWhatTheFutureThrows) {
  Runtime rt = builder().build();
  auto fails = []() -> Async<void> {
    co_await yield_now();
    throw std::runtime_error("no luck");
  };
  EXPECT_THROW(rt.block_on(fails()), std::runtime_error);
  EXPECT_EQ(rt.block_on(one()), 1);
}

TEST_P(EveryRuntime, TheFutureOfBlockOnMayReferToTheCaller) {
  Runtime rt = builder().build();
  int count = 0;
  auto add = [&count]() -> Async<void> {
    ++count;
    co_return;
  };
  rt.block_on(add());
  EXPECT_EQ(count, 1);
}

TEST_P(EveryRuntime, TasksSpawnedFromOutsideRun) {
  Runtime rt = builder().build();
  auto a = rt.spawn(sum_of, 3);
  auto b = rt.spawner().spawn(sum_of, 4);
  EXPECT_EQ(rt.block_on(a), 3);
  EXPECT_EQ(rt.block_on(b), 4);
}

TEST_P(EveryRuntime, BlockingCallsRunElsewhereAndComeBack) {
  Runtime rt = builder().build();
  auto main = []() -> Async<bool> {
    const auto inside = std::this_thread::get_id();
    const auto there = co_await spawn_blocking([] { return std::this_thread::get_id(); });
    co_return inside != there;
  };
  EXPECT_TRUE(rt.block_on(main()));
  EXPECT_EQ(rt.block_on(rt.spawn_blocking([](int x) { return 2 * x; }, 21)), 42);
}

TEST_P(EveryRuntime, TasksAndBlockingCallsMayHaveNames) {
  Runtime rt = builder().build();
  auto main = []() -> Async<std::string> {
    auto name = []() -> Async<std::string> { co_return std::string(task::name()); };
    auto builder = task::Builder();
    builder.name("resolver");
    std::string names = co_await builder.spawn(name);
    names += co_await builder.spawn_blocking([] { return std::string(task::name()); });
    co_return names;
  };
  EXPECT_EQ(rt.block_on(main()), "resolverresolver");
}

TEST_P(EveryRuntime, SpawnInsideABlockingCallGoesToTheRuntime) {
  Runtime rt = builder().build();
  auto main = []() -> Async<int> {
    co_return co_await spawn_blocking([] { return block_on(spawn(one)); });
  };
  EXPECT_EQ(rt.block_on(main()), 1);
}

TEST_P(EveryRuntime, EnterLetsSpawnWorkOutsideOfTasks) {
  Runtime rt = builder().build();
  {
    const auto entered = rt.enter();
    auto handle = spawn(one);
    EXPECT_EQ(rt.block_on(handle), 1);
  }
  EXPECT_DEATH((void)spawn(one), "spawn without an executor");
}

TEST_P(EveryRuntime, DestroyingItCancelsEveryTaskInAnyState) {
  std::atomic<int> alive{0};
  struct Guard {
    explicit Guard(std::atomic<int>& n) : count(&n) { ++*count; }
    Guard(const Guard& other) : count(other.count) { ++*count; }
    ~Guard() { --*count; }
    std::atomic<int>* count;
  };
  std::vector<JoinHandle<>> handles;
  {
    Runtime rt = builder().build();
    auto waits = [](Guard) -> Async<void> { co_await pending_forever<void>(); };
    auto yields = [](Guard) -> Async<void> {
      for (;;) co_await yield_now();
    };
    auto joins = [](Guard guard) -> Async<void> {
      auto child = [](Guard) -> Async<void> { co_await pending_forever<void>(); };
      co_await spawn(child, guard);
    };
    for (int i = 0; i < 20; ++i) {
      handles.push_back(rt.spawn(waits, Guard(alive)));
      handles.push_back(rt.spawn(yields, Guard(alive)));
      handles.push_back(rt.spawn(joins, Guard(alive)));
    }
    rt.block_on(yield_now());
  }
  EXPECT_EQ(alive.load(), 0);
  for (auto& handle : handles) EXPECT_THROW(block_on(handle), JoinError);
}

TEST_P(EveryRuntime, AnExceptionThatNobodyJoinsGoesToTheHook) {
  std::atomic<int> seen{0};
  Gate<void> reported;
  Runtime rt = builder()
                   .on_unhandled([&](const UnhandledException& unhandled) {
                     EXPECT_NE(unhandled.id, 0U);
                     ++seen;
                     reported.open();
                   })
                   .build();
  auto fails = []() -> Async<void> {
    throw std::runtime_error("lost");
    co_return;
  };
  rt.spawn(fails).detach();
  rt.block_on(reported.wait());
  EXPECT_EQ(seen.load(), 1);
}

TEST_P(EveryRuntime, MetricsCountTasksAndPolls) {
  Runtime rt = builder().build();
  auto stays = rt.spawn(pending_forever<void>());
  rt.block_on(sum_of(50));
  const RuntimeMetrics metrics = rt.metrics();
  EXPECT_EQ(metrics.alive_tasks, 1U);
  EXPECT_EQ(metrics.spawned_tasks, 52U);
  std::uint64_t polls = 0;
  std::chrono::nanoseconds busy{0};
  for (const auto& worker : metrics.workers) {
    polls += worker.polls;
    busy += worker.busy;
  }
  // 50 children and their parent. No more is certain: the parent need not wait for a child that
  // another worker took and ended, and the one that stays may not have been polled yet.
  EXPECT_GE(polls, 51U);
  EXPECT_GT(busy.count(), 0);
}

Async<std::string> thread_name() {
  char text[16] = {};
  pthread_getname_np(pthread_self(), text, sizeof text);
  co_return text;
}

TEST(Runtime, ByDefaultItsThreadsAreCalledRouse) {
  EXPECT_EQ(Runtime().block_on(thread_name()), "rouse");
}

TEST(Runtime, ThreadsHaveTheirNameAndTheHooksAreCalledOnEach) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  {
    Runtime rt = Runtime::builder()
                     .worker_threads(3)
                     .thread_name("net")
                     .on_thread_start([&] { ++started; })
                     .on_thread_stop([&] { ++stopped; })
                     .build();
    EXPECT_EQ(rt.block_on(thread_name()), "net");
    rt.block_on(rt.spawn_blocking([] {}));
  }
  EXPECT_EQ(started.load(), 4);
  EXPECT_EQ(stopped.load(), 4);
}

TEST(Runtime, ByDefaultThereIsAWorkerForEachCpu) {
  const Runtime rt;
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_GE(rt.metrics().workers.size(), 1U);
  EXPECT_LE(rt.metrics().workers.size(), static_cast<std::size_t>(CPU_COUNT(&allowed)));
}

TEST(Runtime, SettingsThatMakeNoSenseAreRefusedWithTheReason) {
  auto message = [](const RuntimeBuilder& builder) -> std::string {
    try {
      const Runtime rt = builder.build();
      return "built";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_NE(message(Runtime::builder().worker_threads(0)).find("worker_threads(0)"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().worker_threads(100'000)).find("at most"), std::string::npos);
  EXPECT_NE(message(Runtime::builder().worker_threads(2).current_thread()).find("current_thread"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().thread_stack_size(100)).find("thread_stack_size(100)"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().max_blocking_threads(0)).find("max_blocking_threads(0)"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().max_blocking_queue(0)).find("max_blocking_queue(0)"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().blocking_keep_alive(-1s)).find("blocking_keep_alive"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().global_queue_interval(0)).find("global_queue_interval(0)"),
            std::string::npos);
  EXPECT_NE(message(Runtime::builder().event_interval(0)).find("event_interval(0)"),
            std::string::npos);
}

TEST(Runtime, AStackSizeOfItsOwnIsUsed) {
  Runtime rt = Runtime::builder().worker_threads(1).thread_stack_size(1 << 20).build();
  auto size = []() -> Async<std::size_t> {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    std::size_t bytes = 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    co_return bytes;
  };
  const std::size_t bytes = rt.block_on(size());
  EXPECT_GE(bytes, std::size_t{1} << 20);
  EXPECT_LT(bytes, std::size_t{2} << 20);
}

// --- Misuse. ---

class EveryRuntimeDeathTest : public EveryRuntime {
 protected:
  // The program has threads: a forked child would not have them.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryRuntimeDeathTest,
                         ::testing::Values(Kind::one_worker, Kind::current_thread), name_of);

TEST_P(EveryRuntimeDeathTest, BlockOnInsideATaskSaysWhatToDo) {
  EXPECT_DEATH(
      {
        Runtime rt = builder().build();
        auto nested = [&]() -> Async<void> {
          block_on(one());
          co_return;
        };
        rt.block_on(nested());
      },
      "co_await the future instead");
}

TEST_P(EveryRuntimeDeathTest, ARuntimeUsedInsideATaskOfAnotherSaysWhatToDo) {
  EXPECT_DEATH(
      {
        Runtime rt = builder().build();
        auto nested = []() -> Async<void> {
          Runtime inner = Runtime::builder().worker_threads(1).build();
          inner.block_on(one());
          co_return;
        };
        rt.block_on(nested());
      },
      "Runtime::block_on");
}

TEST_P(EveryRuntimeDeathTest, DroppingARuntimeInsideItsOwnTaskSaysWhatToDo) {
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<Runtime>(builder().build());
        auto drops = [&]() -> Async<void> {
          rt.reset();
          co_return;
        };
        rt->block_on(drops());
      },
      "shutdown_background");
}

TEST_P(EveryRuntimeDeathTest, WaitingForTheEndInsideATaskSaysWhatToDo) {
  EXPECT_DEATH(
      {
        Runtime rt = builder().build();
        auto waits = [&]() -> Async<void> {
          rt.shutdown_timeout(1h);
          co_return;
        };
        rt.block_on(waits());
      },
      "shutdown_background");
}

TEST(RuntimeDeathTest, AForkedChildIsToldThatItHasNoWorkers) {
  // The child of a death test is a forked one.
  GTEST_FLAG_SET(death_test_style, "fast");
  Runtime rt = Runtime::builder().worker_threads(1).build();
  EXPECT_DEATH(rt.block_on(one()), "make a new runtime there, or call exec right after fork");
  if (!test::thread_sanitizer) {  // which starts no threads after a fork
    EXPECT_EXIT(
        {
          Runtime its_own = Runtime::builder().worker_threads(1).build();
          std::_Exit(its_own.block_on(one()));
        },
        ::testing::ExitedWithCode(1), "");
  }
  EXPECT_EQ(rt.block_on(one()), 1);
}

TEST(RuntimeDeathTest, AMovedFromRuntimeIsNamed) {
  Runtime rt = Runtime::builder().current_thread().build();
  const Runtime moved = std::move(rt);
  EXPECT_DEATH(rt.block_on(one()), "moved from or shut down");
}

// --- The end. ---

TEST(RuntimeShutdown, InTheBackgroundFromInsideItsOwnTask) {
  auto rt = std::make_unique<Runtime>(Runtime::builder().worker_threads(2).build());
  Gate<void> go;
  std::atomic<bool> destroyed{false};
  struct Tell {
    explicit Tell(std::atomic<bool>& f) : flag(&f) {}
    Tell(Tell&& other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
    ~Tell() {
      if (flag) *flag = true;
    }
    std::atomic<bool>* flag;
  };
  auto ends_it = [&](Tell) -> Async<void> {
    co_await go.wait();
    rt->shutdown_background();
    co_await pending_forever<void>();
  };
  auto handle = rt->spawn(ends_it, Tell(destroyed));
  go.open();
  EXPECT_THROW(block_on(handle), JoinError);
  EXPECT_TRUE(destroyed.load());
}

TEST(RuntimeShutdown, WaitsForABlockingCallThatRuns) {
  std::atomic<bool> returned{false};
  Gate<void> begun;
  {
    Runtime rt = Runtime::builder().worker_threads(1).build();
    rt.spawn_blocking([&] {
        begun.open();
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
        returned = true;
      }).detach();
    rt.block_on(begun.wait());
  }
  EXPECT_TRUE(returned.load());
}

TEST(RuntimeShutdown, ATimeoutLeavesABlockingCallAlone) {
  Gate<void> begun;
  std::atomic<bool> go{false};
  std::atomic<bool> returned{false};
  Runtime rt = Runtime::builder().worker_threads(1).build();
  auto handle = rt.spawn_blocking([&] {
    begun.open();
    while (!go.load()) std::this_thread::yield();
    returned = true;
    return 7;
  });
  rt.block_on(begun.wait());
  EXPECT_FALSE(rt.shutdown_timeout(1ms));
  go = true;
  EXPECT_EQ(block_on(handle), 7);
  EXPECT_TRUE(returned.load());
}

TEST(RuntimeShutdown, ATimeoutLeavesAPollAloneAndItsTaskIsDestroyedAfter) {
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  Runtime rt = Runtime::builder().worker_threads(1).build();
  auto spins = [&]() -> Async<void> {
    inside = true;
    while (!go.load()) std::this_thread::yield();
    co_await pending_forever<void>();
  };
  auto handle = rt.spawn(spins);
  while (!inside.load()) std::this_thread::yield();
  EXPECT_FALSE(rt.shutdown_timeout(1ms));
  go = true;
  EXPECT_THROW(block_on(handle), JoinError);
}

TEST_P(EveryRuntime, ABlockingCallThatOutlivesItMaySpawnAnother) {
  Gate<void> begun;
  std::atomic<bool> go{false};
  Runtime rt = builder().build();
  auto handle = rt.spawn_blocking([&] {
    begun.open();
    while (!go.load()) std::this_thread::yield();
    auto late = spawn_blocking([] { return 1; });
    EXPECT_THROW(block_on(late), JoinError);
    auto later = spawn(one);
    EXPECT_THROW(block_on(later), JoinError);
    return 7;
  });
  rt.block_on(begun.wait());
  rt.shutdown_background();
  go = true;
  EXPECT_EQ(block_on(handle), 7);
}

TEST(RuntimeShutdown, WakersHeldOutsideMayBeUsedAfterIt) {
  Waker kept;
  Gate<void> taken;
  {
    Runtime rt = Runtime::builder().worker_threads(2).build();
    auto gives = [&]() -> Async<void> {
      auto keep = [&](Context& cx) -> Poll<void> {
        if (!kept) {
          kept = cx.waker();
          taken.open();
        }
        return pending;
      };
      co_await poll_fn(keep);
    };
    rt.spawn(gives).detach();
    rt.block_on(taken.wait());
  }
  const Waker copy = kept;
  copy.wake_by_ref();
  std::move(kept).wake();
}

TEST(RuntimeShutdown, SpawningAfterItGivesACancelledTask) {
  Runtime rt = Runtime::builder().worker_threads(1).build();
  const Spawner spawner = rt.spawner();
  EXPECT_TRUE(rt.shutdown_timeout(1h));
  EXPECT_THROW(block_on(spawner.spawn(one)), JoinError);
}

// --- block_in_place, run. ---

TEST(BlockInPlace, TheOtherTasksOfTheWorkerGoOn) {
  Runtime rt = Runtime::builder().worker_threads(1).build();
  auto main = []() -> Async<int> {
    std::atomic<bool> ran{false};
    auto other = [&]() -> Async<void> {
      ran = true;
      co_return;
    };
    auto handle = spawn(other);
    const int result = block_in_place([&] {
      while (!ran.load()) std::this_thread::yield();  // only another thread can set it
      return block_on(one());                         // blocking is allowed here
    });
    co_await handle;
    co_await yield_now();
    co_return result;
  };
  for (int i = 0; i < 50; ++i) EXPECT_EQ(rt.block_on(main()), 1);
}

TEST(BlockInPlace, OutsideOfTasksItJustCalls) {
  EXPECT_EQ(block_in_place([] { return 5; }), 5);
}

TEST(BlockInPlaceDeathTest, OnACurrentThreadRuntimeItSaysWhatToDo) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto main = []() -> Async<void> {
    block_in_place([] {});
    co_return;
  };
  EXPECT_DEATH(rt.block_on(main()), "use spawn_blocking");
}

TEST(BlockInPlaceDeathTest, KeptAcrossAnAwaitItSaysSo) {
  auto main = []() -> Async<void> {
    const BlockingRegion region;
    co_await yield_now();
  };
  EXPECT_DEATH(Runtime::builder().worker_threads(2).build().block_on(main()),
               "a BlockingRegion was kept across a co_await");
}

TEST(BlockInPlaceDeathTest, InAWakerThatAWorkerCallsItSaysSo) {
  struct Blocks : RefCounted<Blocks> {
    void wake() {
      block_in_place([] {});
    }
  };
  auto main = []() -> Async<void> {
    auto slept = sleep(std::chrono::milliseconds(1));
    const Waker blocks = make_waker(make_ref<Blocks>());
    Context cx(blocks);
    EXPECT_TRUE(slept.poll(cx).is_pending());
    co_await pending_forever<>();
  };
  EXPECT_DEATH(Runtime::builder().worker_threads(1).build().block_on(main()),
               "block_in_place in a waker");
}

TEST(Run, GivesTheExitStatus) {
  auto seven = []() -> Async<int> { co_return 7; };
  auto nothing = []() -> Async<void> { co_return; };
  auto fails = []() -> Async<int> {
    throw std::runtime_error("no luck");
    co_return 0;
  };
  EXPECT_EQ(run(seven), 7);
  EXPECT_EQ(run(nothing), 0);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run(fails), 1);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("no luck"), std::string::npos);
}

}  // namespace
}  // namespace rouse
