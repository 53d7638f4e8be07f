#include "rouse/time/sleep.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "time/paused.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::Gate;
using testing::PollHarness;

Runtime threads(std::size_t n) { return Runtime::builder().worker_threads(n).build(); }
Runtime current_thread() { return Runtime::builder().current_thread().build(); }

Async<void> sleeps_and_is_not_early() {
  for (const auto time : {1us, 900us, 1000us, 1100us, 3000us, 20'000us, 70'000us}) {
    const auto start = steady_clock::now();
    co_await sleep(time);
    const auto passed = steady_clock::now() - start;
    EXPECT_GE(passed, time);
    EXPECT_LT(passed, time + 5s);  // on a machine that is not idle
  }
}

TEST(Sleep, IsNeverEarlyOnAnyExecutor) {
  threads(1).block_on(sleeps_and_is_not_early());
  threads(2).block_on(sleeps_and_is_not_early());
  current_thread().block_on(sleeps_and_is_not_early());

  Runtime runtime = threads(1);
  LocalSet set;
  set.block_on(runtime, sleeps_and_is_not_early());

  const auto here = runtime.enter();
  block_on(sleeps_and_is_not_early());
  LocalExecutor().run_until(sleeps_and_is_not_early());
}

TEST(Sleep, OfNothingOrLessIsReadyAtOnce) {
  const auto is_ready = [](Sleep future) {
    return PollHarness(std::move(future)).poll().is_ready();
  };
  EXPECT_TRUE(is_ready(sleep(0s)));
  EXPECT_TRUE(is_ready(sleep(-1ns)));
  EXPECT_TRUE(is_ready(sleep(std::chrono::nanoseconds::min())));
  EXPECT_TRUE(is_ready(sleep(std::chrono::hours::min())));
  EXPECT_TRUE(is_ready(sleep(std::chrono::duration<double>(-1e300))));
  EXPECT_TRUE(is_ready(sleep_until(time::now())));
  EXPECT_TRUE(is_ready(sleep_until(time::Instant::min())));
  EXPECT_TRUE(is_ready(sleep_until(time::Instant())));
}

TEST(Sleep, OfTheGreatestDurationDoesNotEnd) {
  Runtime runtime = current_thread();
  const auto here = runtime.enter();
  const auto stays = [](Sleep future) {
    PollHarness harness(std::move(future));
    return harness.poll().is_pending() && harness.kept_waker();
  };
  EXPECT_TRUE(stays(sleep(std::chrono::nanoseconds::max())));
  EXPECT_TRUE(stays(sleep(std::chrono::hours::max())));
  EXPECT_TRUE(stays(sleep(std::chrono::duration<double>(1e300))));
  EXPECT_TRUE(stays(sleep_until(time::Instant::max())));
  EXPECT_TRUE(stays(sleep_until(std::chrono::time_point<steady_clock, std::chrono::hours>::max())));
}

TEST(Sleep, AlwaysReadyLetsOthersHaveTheirTurn) {
  bool other_ran = false;
  auto main = [&]() -> Async<void> {
    auto other = spawn_local(borrowed([](bool& ran) -> Async<void> {
      ran = true;
      co_return;
    }(other_ran)));
    while (!other_ran) co_await sleep(0s);
    co_await other;
  };
  current_thread().block_on(main());
}

Async<void> long_sleep() { co_await sleep(24h); }

TEST(Sleep, ARuntimeEndsWhileAThousandTasksSleep) {
  for (const std::size_t workers : {1U, 2U}) {
    Runtime runtime = threads(workers);
    for (int i = 0; i < 1000; ++i) runtime.spawn(long_sleep).detach();
    runtime.block_on(sleep(1ms));
  }
  Runtime runtime = current_thread();
  for (int i = 0; i < 1000; ++i) runtime.spawn(long_sleep).detach();
  runtime.block_on(sleep(1ms));
}

TEST(Sleep, CanBeDroppedOnAnotherThreadAndAfterItsRuntime) {
  auto moved = std::make_unique<std::optional<Sleep>>();
  auto polls_once = [&]() -> Async<void> {
    moved->emplace(time::now() + 24h);
    Context cx(Waker::noop());
    EXPECT_TRUE((*moved)->poll(cx).is_pending());
    co_return;
  };
  threads(1).block_on(polls_once());
  moved.reset();

  moved = std::make_unique<std::optional<Sleep>>();
  Runtime runtime = threads(1);
  runtime.block_on(polls_once());
  moved.reset();  // on this thread; the timers are the worker's
  runtime.block_on(sleep(1ms));
}

TEST(Sleep, GoesOnInAnotherRuntimeWhenItsOwnHasEnded) {
  AnyFuture<void> moved(sleep(2ms));
  PollHarness first(std::move(moved));
  {
    Runtime runtime = current_thread();
    const auto here = runtime.enter();
    ASSERT_TRUE(first.poll().is_pending());
  }
  EXPECT_TRUE(first.is_woken());
  threads(1).block_on([&]() -> Async<void> { co_await std::move(first.future()); }());
}

TEST(Sleep, AThreadWithoutTimersLetsAWorkerWakeIt) {
  Runtime runtime = threads(1);
  const auto here = runtime.enter();
  Gate<> gate;
  // Polled by hand, so there is no block_on that looks after it; the worker is asleep for ever.
  struct OpenGate : RefCounted<OpenGate> {
    explicit OpenGate(Gate<>& gate) : to_open(gate) {}
    void wake() { to_open.open(); }
    Gate<>& to_open;
  };
  const Waker waker = make_waker(make_ref<OpenGate>(gate));
  Context cx(waker);
  Sleep future = sleep(2ms);
  ASSERT_TRUE(future.poll(cx).is_pending());
  block_on(gate.wait());
  EXPECT_TRUE(future.poll(cx).is_ready());
}

TEST(Sleep, WorksInABlockingCallAndWhereAWorkerWasGivenAway) {
  Runtime runtime = threads(1);
  auto main = []() -> Async<void> {
    co_await spawn_blocking([] { block_on(sleep(2ms)); });
    const auto start = steady_clock::now();
    block_in_place([] { block_on(sleep(2ms)); });
    co_await sleep(2ms);  // this poll has no worker any more
    EXPECT_GE(steady_clock::now() - start, 4ms);
    co_await sleep(2ms);
  };
  runtime.block_on(main());
}

TEST(Sleep, TimersGoWithAWorkerThatIsGivenAway) {
  Runtime runtime = threads(1);
  auto main = []() -> Async<void> {
    auto sleeper = spawn([]() -> Async<void> { co_await sleep(5ms); });
    co_await yield_now();  // it sleeps, on the only worker
    co_await yield_now();
    block_in_place([&] { block_on(std::move(sleeper)); });
  };
  runtime.block_on(main());
}

TEST(Sleep, TheLatestWakerCounts) {
  Runtime runtime = current_thread();
  auto main = []() -> Async<void> {
    PollHarness harness(sleep(2ms));
    EXPECT_TRUE(harness.poll().is_pending());
    harness.change_waker();
    EXPECT_TRUE(harness.poll().is_pending());
    EXPECT_TRUE(harness.poll().is_pending());
    EXPECT_EQ(harness.waker().clones_made(), 1U);
    while (!harness.is_woken()) co_await yield_now();
    EXPECT_TRUE(harness.poll().is_ready());
    EXPECT_EQ(harness.waker().clones(), 0U);
  };
  runtime.block_on(main());
}

TEST(Sleep, ResetMovesTheDeadlineBothWays) {
  Runtime runtime = current_thread();
  auto main = []() -> Async<void> {
    Sleep sooner = sleep(24h);
    {
      PollHarness harness(sleep(24h));
      EXPECT_TRUE(harness.poll().is_pending());
      harness.future().reset(time::now() + 1ms);
      while (!harness.is_woken()) co_await yield_now();
      EXPECT_TRUE(harness.poll().is_ready());

      harness.future().reset(time::now() + 24h);
      EXPECT_TRUE(harness.poll().is_pending());
      EXPECT_FALSE(harness.future().is_elapsed());
      harness.future().reset(time::Instant::min());
      while (!harness.is_woken()) co_await yield_now();
      EXPECT_TRUE(harness.poll().is_ready());
    }
    sooner.reset(time::now());
    co_await std::move(sooner);
  };
  runtime.block_on(main());
}

TEST(Sleep, ResetOnAnotherThreadLetsTheTaskWaitAnew) {
  Runtime runtime = threads(1);
  PollHarness harness(sleep(24h));
  runtime.block_on([&]() -> Async<void> {
    EXPECT_TRUE(harness.poll().is_pending());
    co_return;
  }());
  harness.future().reset(time::now() + 1ms);
  EXPECT_TRUE(harness.is_woken());
  runtime.block_on([&]() -> Async<void> {
    EXPECT_TRUE(harness.poll().is_pending());
    while (!harness.is_woken()) co_await yield_now();
    EXPECT_TRUE(harness.poll().is_ready());
  }());
}

TEST(Sleep, DroppedAfterEachPollItLeavesNothingInTheTimers) {
  Runtime runtime = test::paused_runtime(true);  // its clock goes on inside block_on only
  const auto here = runtime.enter();
  const auto report = testing::drop_at_each_poll(
      [] { return sleep(1h); },
      [&](std::size_t i) { runtime.block_on(time::advance(i == 1 ? 30min : 31min)); },
      [&](std::size_t) { runtime.block_on(sleep(2h)); });  // past its deadline
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Sleep, ABusyExecutorStillLooksAtItsTimers) {
  for (const bool local : {false, true}) {
    Runtime runtime = local ? current_thread() : threads(1);
    std::atomic<bool> woken = false;
    auto busy = [&]() -> Async<void> {
      while (!woken.load()) co_await yield_now();
    };
    auto main = [&]() -> Async<void> {
      co_await sleep(2ms);
      woken = true;
    };
    auto both = [&]() -> Async<void> {
      auto spinning = spawn(borrowed(busy()));
      co_await main();
      co_await spinning;
    };
    runtime.block_on(both());
  }
}

TEST(SleepDeath, OutsideOfARuntimeSaysWhatToDo) {
  EXPECT_DEATH(block_on(sleep(1ms)), "outside of a runtime.*rt.enter");
  EXPECT_DEATH(LocalExecutor().run_until(sleep(1ms)), "outside of a runtime");
}

TEST(Sleep, OfFramesThatOnlyJustFit) {
  using Frames = std::chrono::duration<std::int64_t, std::ratio<1, 60>>;
  const std::int64_t seconds = std::int64_t{200} * 365 * 24 * 3600;
  EXPECT_EQ(internal::saturate(Frames(seconds * 60)), std::chrono::seconds(seconds));
  EXPECT_EQ(internal::saturate(Frames(-seconds * 60)), std::chrono::seconds(-seconds));
  EXPECT_EQ(internal::saturate(Frames(1)), 16'666'667ns);
  EXPECT_EQ(internal::saturate(Frames(-1)), -16'666'666ns);
  EXPECT_EQ(internal::saturate(Frames::max()), std::chrono::nanoseconds::max());
  EXPECT_EQ(internal::saturate(Frames::min()), std::chrono::nanoseconds::min());
}

TEST(Sleep, WorksAfterAWorkerWasGivenAwayUnderEnter) {
  Runtime other = Runtime::builder().current_thread().build();
  Runtime runtime = Runtime::builder().worker_threads(1).build();
  const auto main = [](Runtime& entered) -> Async<void> {
    {
      const auto here = entered.enter();
      block_in_place([] { std::this_thread::sleep_for(20ms); });  // the worker sleeps by then
    }
    co_await sleep(5ms);
  };
  runtime.block_on(main(other));
}

/// Polls it once, and leaves its task's waker there.
class PolledOnce {
 public:
  using Output = void;
  explicit PolledOnce(Sleep& polled) noexcept : sleep_(polled) {}
  Poll<void> poll(Context& cx) {
    EXPECT_TRUE(sleep_.poll(cx).is_pending());
    return Poll<void>::ready();
  }

 private:
  Sleep& sleep_;
};

TEST(Sleep, ThatOutlivesItsTaskDoesNotKeepARuntimeAlive) {
  for (const bool local : {true, false}) {
    auto hook = std::make_shared<int>();
    const std::weak_ptr<int> seen = hook;
    Sleep outlives = sleep(1h);
    {
      auto builder = Runtime::builder();
      builder.on_thread_start([hook] {});
      hook.reset();
      Runtime runtime =
          local ? builder.current_thread().build() : builder.worker_threads(1).build();
      builder = Runtime::builder();
      runtime.block_on(PolledOnce(outlives));
    }
    EXPECT_TRUE(seen.expired()) << local;
  }
}

// --- Begun in a block_on, whose thread looks after its timers only while it waits there. ---

Async<void> sleep_a_little() { co_await sleep(1ms); }

/// Polls a sleep once, and then blocks until a task, which it goes on in, ends.
Async<void> begin_and_let_a_task_go_on() {
  Async<void> begun = sleep_a_little();
  co_await poll_fn([&](Context& cx) {
    EXPECT_TRUE(begun.poll(cx).is_pending());
    return Poll<void>::ready();
  });
  auto task = spawn(std::move(begun));
  block_in_place([&] { block_on(std::move(task)); });
}

TEST(Sleep, ThatATaskGoesOnWithIsNotLeftToAThreadThatBlocks) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  rt.block_on(rt.spawn_blocking([] { block_on(begin_and_let_a_task_go_on()); }));
}
}  // namespace
}  // namespace rouse
