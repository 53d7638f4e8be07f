// unconstrained: no budget inside, the same budget as before outside.
#include "rouse/future/unconstrained.hpp"

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"

#include "future/contracts.hpp"
#include "future/helpers.hpp"

namespace rouse::test {
namespace {

/// Takes so many steps of the budget, one after the other, and is ready when it has them.
class Steps {
 public:
  using Output = int;
  explicit Steps(int wanted) : wanted_(wanted) {}
  Poll<int> poll(Context& cx) {
    while (taken_ < wanted_) {
      if (!cx.take_budget()) return pending;
      ++taken_;
    }
    return Poll<int>::ready(taken_);
  }

 private:
  int wanted_;
  int taken_ = 0;
};

/// What is left of a budget, counted by using it up.
int use_up(Context& cx) {
  int left = 0;
  while (cx.take_budget()) ++left;
  return left;
}

TEST(Unconstrained, TakesMoreStepsThanTheBudgetHas) {
  const CountingWaker waker;
  Context limited(waker.waker(), 10);
  EXPECT_TRUE(Steps(11).poll(limited).is_pending());

  Context cx(waker.waker(), 10);
  EXPECT_EQ(unconstrained(Steps(1000)).poll(cx).value(), 1000);
}

TEST(Unconstrained, LeavesTheBudgetAsItWas) {
  const CountingWaker waker;
  Context cx(waker.waker(), 10);
  ASSERT_TRUE(Steps(3).poll(cx).is_ready());
  ASSERT_TRUE(unconstrained(Steps(1000)).poll(cx).is_ready());
  EXPECT_EQ(use_up(cx), 7);
}

TEST(Unconstrained, WorksWhereNothingIsLeftAndLeavesNothing) {
  const CountingWaker waker;
  Context cx(waker.waker(), 1);
  ASSERT_EQ(use_up(cx), 1);
  const int wakes = waker.wakes();
  EXPECT_EQ(unconstrained(Steps(5)).poll(cx).value(), 5);
  EXPECT_EQ(waker.wakes(), wakes);
  EXPECT_FALSE(cx.take_budget());
}

TEST(Unconstrained, LeavesTheBudgetAsItWasWhenThePollIsPendingOrThrows) {
  const CountingWaker waker;
  Context cx(waker.waker(), 10);
  Gate<int> gate;
  auto future = unconstrained(gate.future());
  EXPECT_TRUE(future.poll(cx).is_pending());
  gate.fail("no luck");
  EXPECT_THROW(static_cast<void>(future.poll(cx)), TestError);
  EXPECT_EQ(use_up(cx), 10);
}

TEST(Unconstrained, ReachesThroughAContextThatACombinatorMade) {
  const CountingWaker waker;
  Context task(waker.waker(), 4);
  const CountingWaker child_waker;
  Context child(child_waker.waker(), task);
  EXPECT_EQ(unconstrained(Steps(9)).poll(child).value(), 9);
  EXPECT_EQ(use_up(task), 4);
}

TEST(Unconstrained, InACoroutineWhatIsAwaitedBesideItIsLimitedAsBefore) {
  const CountingWaker waker;
  auto run = []() -> Async<int> {
    const int free = co_await unconstrained(Steps(100));
    const int limited = co_await Steps(10);
    co_return free + limited;
  };
  auto future = run();
  Context first(waker.waker(), 6);
  EXPECT_TRUE(future.poll(first).is_pending());
  Context second(waker.waker(), 6);
  EXPECT_EQ(future.poll(second).value(), 110);
}

TEST(Unconstrained, SaysWhetherItsFutureBorrows) {
  auto borrower = [](const int& x) -> Async<int> { co_return x; };
  auto owner = [](int x) -> Async<int> { co_return x; };
  const int x = 1;
  EXPECT_TRUE(unconstrained(borrower(x)).borrows());
  EXPECT_FALSE(unconstrained(owner(x)).borrows());
}

TEST(Unconstrained, DroppedAfterEachPollItKeepsNoWakerAndTheGateCanBeWaitedForAgain) {
  testing::Gate<int> gate;
  const auto report = testing::drop_at_each_poll([&] { return unconstrained(gate.wait()); },
                                                 [&](std::size_t i) {
                                                   if (i == 2) gate.open(7);
                                                 });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(gate.is_open());
}

TEST(Unconstrained, KeepsTheContractsOfAFuture) {
  check_contracts(1, [](Gates& gates) { return unconstrained(gates[0].future()); });
}

}  // namespace
}  // namespace rouse::test
