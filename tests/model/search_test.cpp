// The search itself: its bound, random runs, replays, and what an execution leaves behind
// (nothing).
#include <atomic>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// Fails if the other thread does its two steps between steps 1 and 2, and 2 and 3, of main.
void needs_two_preemptions() {
  atomic<int> x{0};
  Thread other([&] {
    while (x.load() != 1) {
      if (x.load() == 9) return;
      spin_hint();
    }
    x.store(2);
    x.store(4);
  });
  x.store(1);
  if (x.load() == 2) {  // the other was interrupted as well
    ensure(x.load() != 4, "not twice");
  }
  x.store(9);
  other.join();
}

TEST(Search, TheBoundIsOnPreemptions) {
  const Report at_0 = explore(needs_two_preemptions, {.preemption_bound = 0});
  EXPECT_FALSE(at_0.finding);
  EXPECT_TRUE(at_0.complete);
  const Report at_1 = explore(needs_two_preemptions, {.preemption_bound = 1});
  EXPECT_FALSE(at_1.finding);
  EXPECT_TRUE(at_1.complete);
  EXPECT_TRUE(explore(needs_two_preemptions, {.preemption_bound = 3}).finding);
}

TEST(Search, MoreExecutionsThanAllowedAreNotComplete) {
  const Report report = explore(needs_two_preemptions, {.max_executions = 2});
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.executions + report.cut_short, 2U);
}

TEST(Search, IndependentThreadsNeedOneExecutionAtMostTwice) {
  const Report report = explore(
      [] {
        const auto work = [] {
          atomic<int> own{0};
          for (int i = 0; i < 10; ++i) own.fetch_add(1);
        };
        Thread first(work);
        Thread second(work);
        first.join();
        second.join();
      },
      {.preemption_bound = Options::unbounded});
  EXPECT_TRUE(report.complete);
  EXPECT_LE(report.executions, 2U);
}

TEST(Search, RandomRunsFindTheBugAndItsReplay) {
  const Report report = explore(needs_two_preemptions, {.random_runs = 10'000, .seed = 5});
  ASSERT_TRUE(report.finding);
  const Report again = explore(needs_two_preemptions, {.replay = report.finding->replay});
  ASSERT_TRUE(again.finding);
  EXPECT_EQ(again.finding->trace, report.finding->trace);
  EXPECT_EQ(again.executions, 1U);
}

TEST(Search, TheSameSeedGivesTheSameRuns) {
  const Options options{.random_runs = 10'000, .seed = 7};
  const Report one = explore(needs_two_preemptions, options);
  const Report other = explore(needs_two_preemptions, options);
  EXPECT_EQ(one.executions, other.executions);
  EXPECT_EQ(one.steps, other.steps);
}

TEST(Search, AContendedSpinLockExcludes) {
  const Report report = explore([] {
    SpinLock lock;
    Cell<int> counter{0};
    const auto add = [&] {
      const SpinGuard guard(lock);
      ++counter.write();
    };
    Thread first(add);
    Thread second(add);
    add();
    first.join();
    second.join();
    ensure(counter.read() == 3);
  });
  EXPECT_FALSE(report.finding) << report.summary();
  EXPECT_TRUE(report.complete);
}

TEST(Search, AReplayThatIsNoneIsRefused) {
  EXPECT_DEATH(explore([] {}, {.replay = "17:3"}), "no replay string");
}

TEST(Check, PrintsTheTraceAndTheReplayAndAborts) {
  EXPECT_DEATH(check(needs_two_preemptions),
               "failed ensure: not twice.*replay: ROUSE_MODEL_REPLAY=");
}
TEST(Check, IsNotContentWithAnIncompleteSearch) {
  EXPECT_DEATH(check(needs_two_preemptions, {.max_executions = 2}), "the model is too large");
}
TEST(Check, TakesTheReplayFromTheEnvironment) {
  const Report report = explore(needs_two_preemptions);
  ASSERT_TRUE(report.finding);
  ::setenv("ROUSE_MODEL_REPLAY", report.finding->replay.c_str(), 1);
  EXPECT_DEATH(check(needs_two_preemptions), "1 executions, 0 cut short");
  ::unsetenv("ROUSE_MODEL_REPLAY");
}
TEST(Check, TakesRandomRunsFromTheEnvironment) {
  ::setenv("ROUSE_MODEL_RANDOM", "50", 1);
  int runs = 0;
  check([&] { ++runs; });
  ::unsetenv("ROUSE_MODEL_RANDOM");
  EXPECT_EQ(runs, 50);
}

// --- What belongs to a thread, and to an execution. ---

thread_local int own = 7;

TEST(Execution, EachThreadHasItsThreadLocals) {
  own = 1;
  check([] {
    ensure(own == 7, "fresh in the body");
    own = 2;
    atomic<int> x{0};
    Thread other([&] {
      ensure(own == 7, "fresh in a thread");
      own = 3;
      x.store(1);
      ensure(own == 3);
    });
    x.store(2);
    ensure(own == 2);
    other.join();
    ensure(own == 2);
  });
  EXPECT_EQ(own, 1);
}

TEST(Execution, EachThreadHandlesItsOwnExceptions) {
  check([] {
    atomic<int> x{0};
    const auto handle = [&](int number) {
      try {
        throw number;
      } catch (int caught) {
        x.fetch_add(1);  // the other may go on here
        ensure(caught == number);
        try {
          std::rethrow_exception(std::current_exception());
        } catch (int again) {
          ensure(again == number);
        }
      }
    };
    Thread other([&] { handle(1); });
    handle(2);
    other.join();
  });
}

atomic<int> global{5};

TEST(Execution, AnAtomicFromOutsideHasItsValueAgain) {
  int runs = 0;
  check([&] {
    ensure(global.load() == 5, "as before");
    Thread other([] { global.fetch_add(1); });
    global.fetch_add(1);
    other.join();
    ensure(global.load() == 7);
    outside([&] { ++runs; });
  });
  EXPECT_GT(runs, 1);
  EXPECT_EQ(global.load(), 5);
}

TEST(OutsideOfAModel, AtomicsAndLocksWorkWithoutAModel) {
  atomic<int> x{1};
  EXPECT_EQ(x.fetch_add(2), 1);
  int expected = 3;
  EXPECT_TRUE(x.compare_exchange_strong(expected, 9));
  EXPECT_EQ(x.exchange(4), 9);
  Mutex mutex;
  const Lock lock(mutex);
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(inside());
}

void publish_in_a_cell() {
  Cell<int> cell{0};
  atomic<bool> is_set{false};
  Thread other([&] {
    cell.write() = 1;
    is_set.store(true, memory_order_release);
  });
  if (is_set.load(memory_order_acquire)) ensure(cell.read() == 1);
  other.join();
}

TEST(Orders, EachThatAModelMeetsIsNamed) {
  const Report report = explore(publish_in_a_cell, {.collect_orders = true});
  EXPECT_FALSE(report.finding);
  ASSERT_EQ(report.orders.size(), 2);
  EXPECT_THAT(report.orders[0], MatchesRegex(".*search_test.cpp:[0-9]+:[0-9]+:release"));
  EXPECT_THAT(report.orders[1], MatchesRegex(".*search_test.cpp:[0-9]+:[0-9]+:acquire"));
}

TEST(Orders, AModelThatNeedsAnOrderFailsIfItIsLeftOut) {
  for (const std::string& order : explore(publish_in_a_cell, {.collect_orders = true}).orders) {
    const Report report = explore(publish_in_a_cell, {.leave_out = order});
    ASSERT_TRUE(report.finding) << order;
    EXPECT_EQ(report.finding->problem, Problem::data_race);
  }
}

TEST(Orders, OnlyTheFailureOfAnExchangeDoesWithoutItsOrder) {
  const auto body = [] {
    Cell<int> cell{0};
    atomic<int> state{0};
    Thread other([&] {
      cell.write() = 1;
      state.store(1, memory_order_release);
    });
    int expected = 0;
    if (!state.compare_exchange_strong(expected, 0, memory_order_relaxed, memory_order_acquire)) {
      ensure(cell.read() == 1);
    }
    other.join();
  };
  const Report report = explore(body, {.collect_orders = true});
  ASSERT_EQ(report.orders.size(), 2);
  EXPECT_THAT(report.orders[1], EndsWith(":failure-acquire"));
  EXPECT_TRUE(explore(body, {.leave_out = report.orders[1]}).finding);
}

/// A thief guesses what a slot holds before it owns it; the owner fills the slot again once it sees
/// that it is gone.
Report take_from_slot(std::memory_order order) {
  return explore([order] {
    Slot<int> slot;
    atomic<bool> is_taken{false};
    slot.write(1);
    Thread thief([&] {
      const int guess = slot.guess();
      if (is_taken.exchange(true, order)) return;
      slot.confirm();
      ensure(guess == 1, "the thief has what it took");
    });
    if (is_taken.load(memory_order_acquire)) slot.write(2);
    thief.join();
  });
}

TEST(Slot, AConfirmedGuessIsARead) {
  EXPECT_FALSE(take_from_slot(memory_order_release).finding);
  const Report report = take_from_slot(memory_order_relaxed);
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->problem, Problem::data_race);
}

TEST(Slot, AGuessThatIsThrownAwayMayMeetAWrite) {
  const Report report = explore([] {
    Slot<int> slot;
    Thread other([&] { slot.write(1); });
    (void)slot.guess();
    other.join();
  });
  EXPECT_FALSE(report.finding);
}

TEST(Slot, AWriteBetweenAGuessAndItsConfirmationIsARace) {
  const Report report = explore([] {
    Slot<int> slot;
    Thread other([&] { slot.write(1); });
    (void)slot.guess();
    other.join();
    slot.confirm();
  });
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->problem, Problem::data_race);
}

TEST(Trace, TellsNamesOrdersValuesAndPlaces) {
  const Report report = explore([] {
    atomic<int> x{0};
    name(&x, "x");
    x.store(3, memory_order_release);
    ensure(x.load(memory_order_acquire) == 4, "four");
  });
  ASSERT_TRUE(report.finding);
  EXPECT_THAT(report.finding->trace, HasSubstr("main       x.store (release) <- 3"));
  EXPECT_THAT(report.finding->trace, HasSubstr("main       x.load (acquire) -> 3"));
  EXPECT_THAT(report.finding->trace, HasSubstr("search_test.cpp:"));
  EXPECT_THAT(report.summary(), HasSubstr("model checker: failed ensure: four (search_test.cpp:"));
}

}  // namespace
}  // namespace rouse::model
