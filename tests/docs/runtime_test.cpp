// The code in docs/guide/04_runtime.md that is in no example.
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace runtime_guide {

using namespace std::chrono_literals;

// [work]
rouse::Async<int> twice(int x) {
  co_await rouse::yield_now();  // stands for the real work
  co_return 2 * x;
}
// [/work]

TEST(RuntimeGuide, ARuntimeRunsAFuture) {
  // [runtime]
  rouse::Runtime rt;  // starts a worker thread for each CPU
  EXPECT_EQ(rt.block_on(twice(21)), 42);
  // [/runtime]
}

TEST(RuntimeGuide, ABuilderHasSettings) {
  // [builder]
  auto rt = rouse::Runtime::builder().worker_threads(2).thread_name("app").build();
  // [/builder]
  EXPECT_EQ(rt.metrics().workers.size(), 2U);
}

TEST(RuntimeGuide, BadSettingsAreRefused) {
  // [bad]
  try {
    auto rt = rouse::Runtime::builder().worker_threads(0).build();
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "rouse::Runtime: worker_threads(0): at least one worker is needed; leave it out "
                 "for one a CPU, or say current_thread()");
  }
  // [/bad]
}

TEST(RuntimeGuide, BlockOnMayBorrow) {
  rouse::Runtime rt;
  // [block_on]
  std::vector<int> results;
  auto collect = [&]() -> rouse::Async<void> {
    auto first = rouse::spawn(twice, 1);  // goes to the queue of the worker that runs this
    auto second = rouse::spawn(twice, 2);
    results.push_back(co_await first);
    results.push_back(co_await second);
  };
  rt.block_on(collect());
  EXPECT_EQ(results, (std::vector{2, 4}));
  // [/block_on]
}

TEST(RuntimeGuide, TasksAreSpawnedFromOutside) {
  rouse::Runtime rt;
  // [outside]
  auto task = rt.spawn(twice, 4);       // any thread that has the Runtime
  EXPECT_EQ(rouse::block_on(task), 8);  // any thread may wait for it

  std::jthread other([spawner = rt.spawner()] {  // or has a Spawner, which is cheap to copy
    spawner.spawn(twice, 5).detach();
  });
  // [/outside]
}

// [knows_no_runtime]
rouse::JoinHandle<int> start_work() { return rouse::spawn(twice, 6); }
// [/knows_no_runtime]

TEST(RuntimeGuide, EnterLetsSpawnWork) {
  rouse::Runtime rt;
  // [enter]
  const rouse::EnterGuard here = rt.enter();  // for this thread, as long as it lives
  auto task = start_work();
  EXPECT_EQ(rt.block_on(task), 12);
  // [/enter]
}

TEST(RuntimeGuide, ACurrentThreadRuntimeHasNoWorkers) {
  // [current_thread]
  auto rt = rouse::Runtime::builder().current_thread().build();
  const auto caller = std::this_thread::get_id();
  auto here = [&]() -> rouse::Async<bool> { co_return std::this_thread::get_id() == caller; };
  EXPECT_TRUE(rt.block_on(here()));
  // [/current_thread]
}

TEST(RuntimeGuide, UnhandledExceptionsGoToTheHook) {
  std::promise<std::string> reported;
  // [unhandled]
  auto rt = rouse::Runtime::builder()
                .on_unhandled([&](const rouse::UnhandledException& unhandled) {
                  reported.set_value(unhandled.name);  // on a worker: take care of threads
                })
                .build();
  auto fails = []() -> rouse::Async<void> {
    co_await rouse::yield_now();
    throw std::runtime_error("disk full");
  };
  rouse::task::Builder().name("cache").spawn_on(rt.spawner(), fails).detach();
  EXPECT_EQ(reported.get_future().get(), "cache");
  // [/unhandled]
}

TEST(RuntimeGuide, AnExceptionKnowsWhereItCameFrom) {
  // [trace]
  auto fails = []() -> rouse::Async<void> {
    co_await rouse::yield_now();
    throw std::runtime_error("disk full");
  };
  auto saves = [&]() -> rouse::Async<void> { co_await fails(); };
  try {
    rouse::block_on(saves());
  } catch (const std::exception&) {
    const auto trace = rouse::trace_of(std::current_exception());
    EXPECT_EQ(trace.size(), 2U);  // the last await of `fails`, and that of `saves`
    EXPECT_LT(trace[0].line(), trace[1].line());
  }
  // [/trace]
}

TEST(RuntimeGuide, MetricsAreThere) {
  rouse::Runtime rt;
  // [metrics]
  rt.block_on(twice(1));
  const rouse::RuntimeMetrics metrics = rt.metrics();
  EXPECT_EQ(metrics.spawned_tasks, 1U);
  EXPECT_EQ(metrics.alive_tasks, 0U);
  std::uint64_t polls = 0;
  for (const rouse::WorkerMetrics& worker : metrics.workers) polls += worker.polls;
  EXPECT_EQ(polls, 2U);
  // [/metrics]
}

TEST(RuntimeGuide, ARuntimeEnds) {
  rouse::Runtime rt;
  // [end]
  auto waits = []() -> rouse::Async<void> { co_await rouse::pending_forever<>(); };
  auto task = rt.spawn(waits);
  const rouse::Spawner spawner = rt.spawner();

  EXPECT_TRUE(rt.shutdown_timeout(10s));  // all tasks and threads are gone

  EXPECT_THROW(rouse::block_on(task), rouse::JoinError);
  auto too_late = spawner.spawn(twice, 7);  // is cancelled at once
  EXPECT_THROW(rouse::block_on(too_late), rouse::JoinError);
  // [/end]
}

TEST(RuntimeGuide, RunGivesTheExitStatus) {
  // [run]
  auto seven = []() -> rouse::Async<int> { co_return 7; };
  EXPECT_EQ(rouse::run(seven), 7);
  auto fails = []() -> rouse::Async<void> {
    co_await rouse::yield_now();
    throw std::runtime_error("no network");  // is told on stderr
  };
  EXPECT_EQ(rouse::run(fails), 1);
  // [/run]
}

TEST(RuntimeGuideDeathTest, MisuseIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)rouse::spawn(twice, 1), "spawn without an executor: no task is running");
  auto nested = []() -> rouse::Async<void> {
    rouse::block_on(twice(1));
    co_return;
  };
  EXPECT_DEATH(rouse::Runtime().block_on(nested()),
               "a blocking call inside a task would stop the executor.*\n.*in: block_on");
  auto drops = []() -> rouse::Async<void> {
    const rouse::Runtime inner;
    co_return;
  };
  EXPECT_DEATH(rouse::Runtime().block_on(drops()),
               "inside a task say shutdown_background\\(\\), or destroy it in spawn_blocking");
}

}  // namespace runtime_guide
