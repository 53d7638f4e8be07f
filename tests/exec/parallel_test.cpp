// parallel: results, errors, depth and cancellation, wherever it is polled.
#include "rouse/exec/parallel.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "exec/test_pool.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::TestPool;
using testing::Gate;
using testing::PollHarness;

Async<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await parallel(fib(n - 1), fib(n - 2));
  co_return a + b;
}
Async<long> yielding_fib(int n) {
  if (n < 2) {
    co_await yield_now();
    co_return n;
  }
  auto [a, b] = co_await parallel(yielding_fib(n - 1), yielding_fib(n - 2));
  co_return a + b;
}
constexpr long fib_20 = 6765;
constexpr long fib_12 = 144;

/// Polls on a thread with a fork deque that nobody steals from.
template <class F>
auto poll_with_forks(F&& future) {
  ForkDeque forks;
  Context cx(Waker::noop(), Context::task_budget, &forks);
  return future.poll(cx);
}

TEST(Parallel, GivesTheOutputsInOrder) {
  auto outputs = []() -> Async<std::tuple<int, Unit, std::string>> {
    co_return co_await parallel([]() -> Async<int> { co_return 1; }(),
                                []() -> Async<void> { co_return; }(),
                                []() -> Async<std::string> { co_return "three"; }());
  };
  const std::tuple<int, Unit, std::string> expected(1, Unit(), "three");
  EXPECT_EQ(block_on(outputs()), expected);
  EXPECT_EQ(poll_with_forks(outputs()).value(), expected);
  EXPECT_EQ(LocalExecutor().run_until(outputs()), expected);
  EXPECT_EQ(TestPool(2).run(outputs), expected);
}

TEST(Parallel, OfNothingIsReady) { EXPECT_EQ(block_on(parallel()), std::tuple<>()); }

TEST(Parallel, ComputesOnEveryKindOfExecutor) {
  EXPECT_EQ(block_on(fib(20)), fib_20);
  EXPECT_EQ(poll_with_forks(fib(20)).value(), fib_20);
  EXPECT_EQ(LocalExecutor().run_until(fib(20)), fib_20);
  EXPECT_EQ(TestPool(1).run(fib, 20), fib_20);
  EXPECT_EQ(TestPool(3).run(fib, 20), fib_20);
}

TEST(Parallel, ComputesWhereChildrenSuspend) {
  EXPECT_EQ(block_on(yielding_fib(12)), fib_12);
  EXPECT_EQ(LocalExecutor().run_until(yielding_fib(12)), fib_12);
  EXPECT_EQ(TestPool(1).run(yielding_fib, 12), fib_12);
  EXPECT_EQ(TestPool(3).run(yielding_fib, 12), fib_12);
}

TEST(Parallel, MayBePolledWithoutACoroutine) {
  EXPECT_EQ(block_on(parallel(yielding_fib(5), ready(1))), std::tuple(5L, 1));
  EXPECT_EQ(LocalExecutor().run_until(parallel(yielding_fib(5), ready(1))), std::tuple(5L, 1));
  TestPool pool(2);
  EXPECT_EQ(pool.run(parallel(yielding_fib(5), fib(3))), std::tuple(5L, 2L));
  auto both = []() -> Async<long> {
    auto [a, b] = co_await join(parallel(fib(5), fib(6)), parallel(fib(7), yielding_fib(8)));
    co_return std::get<0>(a) + std::get<1>(a) + std::get<0>(b) + std::get<1>(b);
  };
  EXPECT_EQ(pool.run(both), 5 + 8 + 13 + 21);
}

TEST(Parallel, TakesAFutureThatIsNoCoroutineAndACoroutineThatWasBegun) {
  Gate<int> gate;
  auto waits = [](Gate<int>& g) -> Async<int> { co_return co_await g.wait(); };
  auto begun = waits(gate);
  Context cx(Waker::noop());
  ASSERT_TRUE(begun.poll(cx).is_pending());
  gate.open(4);
  auto sum = [](Async<int> child) -> Async<int> {
    auto [a, b] = co_await parallel(std::move(child), ready(3));
    co_return a + b;
  };
  EXPECT_EQ(block_on(sum(std::move(begun))), 7);
}

TEST(Parallel, BorrowsIfAChildDoes) {
  int x = 1;
  auto borrower = [](int& y) -> Async<int> { co_return y; };
  EXPECT_TRUE(parallel(fib(1), borrower(x)).borrows());
  EXPECT_TRUE(parallel(fib(1), join(borrower(x))).borrows());
  EXPECT_FALSE(parallel(fib(1), join(fib(2))).borrows());
}

// --- Errors. ---

Async<int> fails(int with, bool& ended) {
  co_await yield_now();
  ended = true;
  throw with;
  co_return 0;
}
Async<int> first_error(bool (&ended)[3]) {
  try {
    co_await parallel(fails(1, ended[0]), fails(2, ended[1]), fails(3, ended[2]));
  } catch (int thrown) {
    co_return thrown;
  }
  co_return 0;
}

TEST(Parallel, ThrowsWhatTheFirstChildInOrderThrewAfterAllEnded) {
  for (int where = 0; where < 3; ++where) {
    bool ended[3] = {};
    const int thrown = where == 0   ? block_on(first_error(ended))
                       : where == 1 ? LocalExecutor().run_until(first_error(ended))
                                    : TestPool(2).run(borrowed(first_error(ended)));
    EXPECT_EQ(thrown, 1);
    EXPECT_TRUE(ended[0] && ended[1] && ended[2]);
  }
}

// --- Progress. ---

Async<void> open(Gate<>& gate) {
  gate.open();
  co_return;
}
Async<void> pass(Gate<>& gate) { co_await gate.wait(); }
/// The last child, which runs first, waits for the first.
Async<bool> last_waits_for_first() {
  Gate<> gate;
  co_await parallel(open(gate), pass(gate));
  Gate<> other;
  co_await parallel(pass(other), open(other));
  co_return true;
}

TEST(Parallel, TheFramesOfItsChildrenGoWhenItGivesTheirOutputs) {
  auto holds = [](std::shared_ptr<int> held) -> Async<long> { co_return held.use_count(); };
  auto owners = [&holds](const std::shared_ptr<int>& held) -> Async<long> {
    const auto now = [&](const std::tuple<long, long>&) { return held.use_count(); };
    const long in_the_same_expression = now(co_await parallel(holds(held), holds(held)));
    co_return in_the_same_expression;
  };
  const auto held = std::make_shared<int>(0);
  EXPECT_EQ(block_on(owners(held)), 1);
  EXPECT_EQ(poll_with_forks(owners(held)).value(), 1);
}

TEST(Parallel, AChildMayWaitForAnother) {
  EXPECT_TRUE(block_on(last_waits_for_first()));
  EXPECT_TRUE(LocalExecutor().run_until(last_waits_for_first()));
  EXPECT_TRUE(TestPool(1).run(last_waits_for_first));
  EXPECT_TRUE(TestPool(3).run(last_waits_for_first));
}

Async<int> nest(int depth) {
  if (depth == 0) co_return 0;
  auto [a, b] = co_await parallel([]() -> Async<int> { co_return 1; }(), nest(depth - 1));
  co_return a + b;
}
Async<int> nest_in_first(int depth) {
  if (depth == 0) co_return 0;
  auto [a, b] = co_await parallel(nest_in_first(depth - 1), []() -> Async<int> { co_return 1; }());
  co_return a + b;
}
Async<int> repeat(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    auto [a, b] = co_await parallel([]() -> Async<int> { co_return 0; }(),
                                    []() -> Async<int> { co_return 1; }());
    sum += a + b;
  }
  co_return sum;
}

TEST(Parallel, NestedAHundredThousandDeepTheStackStaysFlat) {
  constexpr int depth = 100'000;
  EXPECT_EQ(block_on(nest(depth)), depth);
  EXPECT_EQ(block_on(nest_in_first(depth)), depth);
  EXPECT_EQ(poll_with_forks(nest(depth)).value(), depth);
  EXPECT_EQ(poll_with_forks(nest_in_first(depth)).value(), depth);
  EXPECT_EQ(TestPool(2).run(nest, depth), depth);
}

TEST(Parallel, AMillionOneAfterAnother) {
  constexpr int count = 1'000'000;
  EXPECT_EQ(block_on(repeat(count)), count);
  EXPECT_EQ(poll_with_forks(repeat(count)).value(), count);
}

Async<void> nest_waiting(int depth, Gate<>& gate) {
  if (depth == 0) {
    co_await gate.wait();
    co_return;
  }
  co_await parallel(ready(0), nest_waiting(depth - 1, gate));
}

TEST(Parallel, ADeepChainThatIsSuspendedIsWokenAndDroppedWithAFlatStack) {
  constexpr int depth = 100'000;
  Gate<> gate;
  LocalExecutor executor;
  auto ends = executor.spawn(borrowed(nest_waiting(depth, gate)));
  executor.run_until(yield_now());
  EXPECT_EQ(gate.polls(), 1U);
  gate.open();
  executor.run();
  EXPECT_TRUE(ends.is_finished());

  auto dropped = executor.spawn(borrowed(nest_waiting(depth, gate)));
  executor.run_until(yield_now());
  dropped.abort();
  executor.run();
  EXPECT_EQ(executor.live_tasks(), 0U);
}

// --- Cancellation. ---

Async<void> holds(std::shared_ptr<int> held, Gate<>& gate) {
  co_await gate.wait();
  *held = 1;
}

TEST(Parallel, DroppedByHandItDropsItsChildren) {
  auto held = std::make_shared<int>(0);
  Gate<> gates[3];
  auto region = [](std::shared_ptr<int> h, Gate<>(&g)[3]) -> Async<void> {
    co_await parallel(holds(h, g[0]), holds(h, g[1]), holds(h, g[2]));
  };
  {
    PollHarness harness(region(held, gates));
    ASSERT_TRUE(harness.poll().is_pending());
    for (const Gate<>& gate : gates) EXPECT_EQ(gate.polls(), 1U);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Parallel, DroppedOnALocalExecutorItDropsItsChildrenAndTheirTasksEnd) {
  auto held = std::make_shared<int>(0);
  Gate<> gates[3];
  auto region = [](std::shared_ptr<int> h, Gate<>(&g)[3]) -> Async<void> {
    co_await parallel(holds(h, g[0]), holds(h, g[1]), holds(h, g[2]));
  };
  LocalExecutor executor;
  auto task = executor.spawn(borrowed(region(held, gates)));
  executor.run_until(yield_now());
  executor.run_until(yield_now());
  for (const Gate<>& gate : gates) EXPECT_EQ(gate.polls(), 1U);
  task.abort();
  executor.run();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(executor.live_tasks(), 0U);
}

/// Yields for ever, and looks at what its parent's frame holds.
Async<void> looks(const int& local, atomic<int>& polls) {
  for (;;) {
    if (local != 42) std::abort();
    polls.fetch_add(1, memory_order_relaxed);
    co_await yield_now();
  }
}

TEST(ParallelStress, DroppedWhileOthersPollItsChildrenItWaitsForThem) {
  TestPool pool(3);
  for (int round = 0; round < 200; ++round) {
    atomic<int> polls{0};
    auto region = [](atomic<int>& p) -> Async<void> {
      int local = 42;
      struct Clobber {
        int& value;
        ~Clobber() { value = 0; }
      } const clobber{local};
      co_await parallel(looks(local, p), looks(local, p), looks(local, p));
    };
    auto task = pool.spawn(borrowed(region(polls)));
    while (polls.load(memory_order_relaxed) < 30) std::this_thread::yield();
    task.abort();
    EXPECT_THROW(block_on(task), JoinError);
  }
}

/// The last child, which runs on this thread, blocks it until another thread ran the first.
Async<long> blocks_until_stolen(int depth) {
  atomic<bool> began{false};
  auto first = [](atomic<bool>& b, int n) -> Async<long> {
    b.store(true, memory_order_relaxed);
    co_return co_await fib(n);
  };
  auto last = [](const atomic<bool>& b, int n) -> Async<long> {
    while (!b.load(memory_order_relaxed)) std::this_thread::yield();
    co_return co_await fib(n);
  };
  auto [a, b] = co_await parallel(first(began, depth), last(began, depth));
  co_return a + b;
}

TEST(ParallelStress, ChildrenAreStolenAndTheirResultsFound) {
  TestPool pool(3);
  for (int round = 0; round < 300; ++round) {
    EXPECT_EQ(pool.run(blocks_until_stolen, round % 16), 2 * block_on(fib(round % 16)));
  }
  EXPECT_GE(pool.steals(), 300U);
}

inline TaskLocal<int> depth;
Async<int> look_at_depth(int forks) {
  const int here = depth.get();
  if (forks == 0) co_return here;
  auto [a, b, c] =
      co_await parallel(look_at_depth(forks - 1), depth.scope(here + 1, look_at_depth(forks - 1)),
                        look_at_depth(forks - 1));
  co_await yield_now();
  EXPECT_EQ(depth.get(), here);
  co_return a + b + c;
}

TEST(ParallelStress, ChildrenSeeTheTaskLocalsOfTheirParentOnWhicheverThread) {
  TestPool pool(3);
  for (int round = 0; round < 20; ++round) {
    // Of 3^6 leaves each sees 1 and how many of its 6 forks went into the scope: 2 on average.
    EXPECT_EQ(pool.run(depth.scope(1, look_at_depth(6))), 729 * 3);
  }
}

TEST(ParallelStress, AThreadThatIsGivenAwayMidwayTakesItsForksWithIt) {
  TestPool pool(2);
  auto blocks_in_place = []() -> Async<long> {
    auto plain = [](int n) -> Async<long> { co_return co_await fib(n); };
    auto blocking = [](int n) -> Async<long> {
      block_in_place([] {});
      co_return co_await fib(n);
    };
    auto [a, b, c] = co_await parallel(plain(10), blocking(10), blocking(10));
    co_return a + b + c;
  };
  for (int round = 0; round < 100; ++round) EXPECT_EQ(pool.run(blocks_in_place), 3 * 55);
}

/// Each fork's first child becomes a task of its own, as the other one suspends the chain.
Async<void> forks_of_waiting_children(int forks, std::vector<int>& ended) {
  const auto note_end = [&](const int* number) { ended.push_back(*number); };
  const std::unique_ptr<const int, decltype(note_end)> noted(&forks, note_end);
  if (forks == 0) {
    co_await pending_forever<>();
    co_return;
  }
  co_await parallel(forks_of_waiting_children(forks - 1, ended), pending_forever<>());
}

TEST(Parallel, DroppedItEndsManyForksInOneAnotherInnermostFirst) {
  constexpr int nested = 200'000;
  std::vector<int> ended;
  {
    LocalExecutor executor;
    auto forks = executor.spawn(borrowed(forks_of_waiting_children(nested, ended)));
    auto until_all_wait = [&]() -> Async<void> {
      while (executor.live_tasks() < nested + 2) co_await yield_now();  // each child, root, this
      co_await yield_now();
      forks.abort();
    };
    executor.run_until(until_all_wait());
    executor.run();
  }
  ASSERT_EQ(ended.size(), nested + 1U);
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
}

TEST(ParallelDeath, DestroyedWhileAwaited) {
  auto aborts = [] {
    Gate<> gate;
    auto region = std::make_unique<Parallel<void, void>>(parallel(pass(gate), pass(gate)));
    auto waits = [](Parallel<void, void>& r) -> Async<void> { co_await r; };
    LocalExecutor executor;
    auto task = executor.spawn(borrowed(waits(*region)));
    executor.run_until(yield_now());
    region.reset();
  };
  EXPECT_DEATH(aborts(), "destroyed while a coroutine awaits it");
}

}  // namespace
}  // namespace rouse
