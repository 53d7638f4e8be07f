#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/pause.hpp"
#include "rouse/time/sleep.hpp"

#include "time/paused.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using test::run_paused;
using ::testing::ElementsAre;
using time::Instant;

TEST(PausedClock, ADayOfSleepPassesInMilliseconds) {
  const auto start = std::chrono::steady_clock::now();
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    for (int hour = 0; hour < 24; ++hour) co_await sleep(1h);
    EXPECT_EQ(time::now() - begin, 24h);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30min);
}

TEST(PausedClock, StandsStillWhileATaskRuns) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    EXPECT_TRUE(time::is_paused());
    for (int i = 0; i < 1000; ++i) co_await yield_now();
    EXPECT_EQ(time::now(), begin);
  });
}

using Log = std::vector<std::string>;

Async<void> worker_of(Log& log, std::string name, std::chrono::milliseconds period, int times) {
  const Instant begin = time::now();
  for (int i = 0; i < times; ++i) {
    co_await sleep(period);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time::now() - begin);
    log.push_back(name + std::to_string(ms.count()));
  }
}

TEST(PausedClock, EventsComeInTheOrderOfTheirDeadlinesThenOfTheirBeginning) {
  run_paused([]() -> Async<void> {
    Log log;
    auto a = spawn(borrowed(worker_of(log, "a", 3ms, 4)));
    auto b = spawn(borrowed(worker_of(log, "b", 4ms, 3)));
    auto c = spawn(borrowed(worker_of(log, "c", 12ms, 1)));
    co_await a;
    co_await b;
    co_await c;
    // c began to sleep for 12 before the others did.
    EXPECT_THAT(log, ElementsAre("a3", "b4", "a6", "b8", "a9", "c12", "b12", "a12"));
  });
}

TEST(PausedClock, AProgramHasTheSameEventsEveryTime) {
  const auto program = [](Log& log) -> Async<void> {
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 50; ++i) {
      tasks.push_back(spawn(borrowed(worker_of(log, std::to_string(i) + ":",
                                               std::chrono::milliseconds(1 + i * 37 % 11), 20))));
    }
    for (auto& task : tasks) co_await task;
  };
  for (const bool local : {true, false}) {
    Log first;
    Log second;
    test::paused_runtime(local).block_on(program(first));
    test::paused_runtime(local).block_on(program(second));
    EXPECT_EQ(first.size(), 1000U);
    EXPECT_EQ(first, second);
  }
}

TEST(PausedClock, WaitsForABlockingCall) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    auto call = spawn_blocking([] { std::this_thread::sleep_for(20ms); });
    auto sleeper = spawn([]() -> Async<void> { co_await sleep(1h); });
    co_await call;
    EXPECT_EQ(time::now(), begin);
    co_await sleeper;
    EXPECT_EQ(time::now(), begin + 1h);
  });
}

TEST(PausedClock, JumpsAfterABlockingCallThatNobodyWaitsFor) {
  run_paused([]() -> Async<void> {
    spawn_blocking([] { std::this_thread::sleep_for(5ms); }).detach();
    co_await sleep(1h);
  });
}

TEST(PausedClock, WaitsForATaskThatGaveItsWorkerAway) {
  auto main = []() -> Async<void> {
    const Instant begin = time::now();
    auto sleeper = spawn([]() -> Async<void> { co_await sleep(1h); });
    co_await yield_now();
    block_in_place([] { std::this_thread::sleep_for(20ms); });
    EXPECT_EQ(time::now(), begin);
    co_await sleeper;
    EXPECT_EQ(time::now(), begin + 1h);
  };
  test::paused_runtime(false).block_on(main());
}

TEST(PausedClock, AdvanceStopsAtEachDeadlineOnTheWay) {
  run_paused([]() -> Async<void> {
    Log log;
    auto task = spawn(borrowed(worker_of(log, "", 10ms, 5)));
    co_await yield_now();
    co_await time::advance(35ms);
    EXPECT_THAT(log, ElementsAre("10", "20", "30"));
    co_await time::advance(5ms);
    EXPECT_THAT(log, ElementsAre("10", "20", "30", "40"));
    co_await task;
  });
}

TEST(PausedClock, AdvanceGoesOnAlsoWhenSomebodyIsBusy) {
  run_paused([]() -> Async<void> {
    bool done = false;
    auto busy = spawn(borrowed([](bool& ended) -> Async<void> {
      while (!ended) co_await yield_now();
    }(done)));
    const Instant begin = time::now();
    co_await time::advance(1h);
    EXPECT_EQ(time::now(), begin + 1h);
    done = true;
    co_await busy;
  });
}

TEST(PausedClock, AdvanceByNothingOrAllThereIs) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    co_await time::advance(0s);
    co_await time::advance(-1h);
    EXPECT_EQ(time::now(), begin);
    co_await time::advance(std::chrono::hours::max());
    EXPECT_EQ(time::now(), Instant::max());
    co_await sleep(1ms);  // time has come to its end
    co_await sleep(std::chrono::hours::max());
  });
}

TEST(PausedClock, GoesOnFromWhereItStoodWhenResumed) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    co_await sleep(1h);
    time::resume();
    EXPECT_FALSE(time::is_paused());
    const Instant resumed = time::now();
    EXPECT_GE(resumed, begin + 1h);
    EXPECT_LT(resumed, begin + 2h);
    co_await sleep(2ms);
    EXPECT_GE(time::now(), resumed + 2ms);
    time::pause();
    EXPECT_GE(time::now(), resumed + 2ms);
    co_await sleep(1h);
    EXPECT_GE(time::now(), resumed + 1h);
  });
}

TEST(PausedClock, EveryDurationEndsNoEarlierThanItSays) {
  run_paused([]() -> Async<void> {
    for (unsigned bits = 0; bits < 62; ++bits) {
      for (const std::int64_t offset : {-1, 0, 1}) {
        const std::chrono::nanoseconds duration((std::int64_t{1} << bits) + offset);
        const Instant begin = time::now();
        if (duration > Instant::max() - begin) co_return;
        co_await sleep(duration);
        EXPECT_GE(time::now() - begin, duration);
        EXPECT_LT(time::now() - begin, duration + time::resolution);
        co_await sleep_until(begin + duration);
      }
    }
  });
}

TEST(PausedClock, AThousandSleepsOfRandomLengthEndInOrder) {
  run_paused([]() -> Async<void> {
    std::vector<Instant> woken;
    const auto sleeper = [](std::vector<Instant>& log, Instant until) -> Async<void> {
      co_await sleep_until(until);
      log.push_back(until);
    };
    std::vector<JoinHandle<>> tasks;
    std::uint64_t random = 1;
    for (int i = 0; i < 1000; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const std::chrono::milliseconds ms(1 + (random >> 33) % (1U << (i % 30)));
      tasks.push_back(spawn(borrowed(sleeper(woken, time::now() + ms))));
    }
    for (auto& task : tasks) co_await task;
    EXPECT_EQ(woken.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(woken.begin(), woken.end()));
  });
}

TEST(PausedClock, IsOnlyForRuntimesWithOneThread) {
  EXPECT_THROW((void)Runtime::builder().worker_threads(2).start_paused().build(),
               std::invalid_argument);
  EXPECT_DEATH(time::pause(), "current_thread\\(\\) or worker_threads\\(1\\)");
  EXPECT_FALSE(time::is_paused());
}

TEST(PausedClock, DoesNotJumpToATimeThatNeverComes) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    auto never = spawn([]() -> Async<void> { co_await sleep(std::chrono::hours::max()); });
    auto [tx, rx] = sync::oneshot<int>();
    std::thread other([sender = std::move(tx)]() mutable {
      std::this_thread::sleep_for(10ms);
      (void)sender.send(1);
    });
    co_await rx;
    other.join();
    EXPECT_EQ(time::now(), begin);
    co_await sleep(1s);
    EXPECT_EQ(time::now(), begin + 1s);
  });
}

TEST(PausedClock, CanBePausedAtTheEndOfTime) {
  run_paused([]() -> Async<void> {
    co_await time::advance(std::chrono::hours::max());
    time::resume();
    time::pause();
    EXPECT_EQ(time::now(), Instant::max());
  });
}

}  // namespace
}  // namespace rouse
