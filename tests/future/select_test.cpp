#include "rouse/future/select.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Select, TellsByItsIndexWhichFutureWasFirst) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = select(a.future(), b.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open(2);
  EXPECT_EQ(waker.wakes(), 1);
  auto output = future.poll(waker.cx).value();
  EXPECT_EQ(output.index(), 1U);
  EXPECT_EQ(std::get<1>(output), 2);
}

TEST(Select, PrefersTheFirstListedWhenSeveralAreReady) {
  CountingWaker waker;
  Gate<int> last;
  last.open(3);
  auto future = select(pending_forever<int>(), ready(2), last.future());
  EXPECT_EQ(future.poll(waker.cx).value().index(), 1U);
  EXPECT_EQ(last.polls(), 0);
}

TEST(Select, DropsTheOthersBeforeTheValueIsHandedOut) {
  CountingWaker waker;
  Gate<int> winner;
  Gate<int> loser;
  auto future = select(loser.future(), winner.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  winner.open(1);
  auto poll = future.poll(waker.cx);
  EXPECT_TRUE(poll.is_ready());
  EXPECT_EQ(winner.alive(), 0);
  EXPECT_EQ(loser.alive(), 0);
  loser.open(2);
}

TEST(Select, HoldsVoidMoveOnlyAndReferenceOutputs) {
  CountingWaker waker;
  Gate<int&> reference;
  auto future = select(pending_forever(), ready(std::make_unique<int>(5)), reference.future());
  static_assert(
      std::is_same_v<decltype(future)::Output, std::variant<Unit, std::unique_ptr<int>, int*>>);
  EXPECT_EQ(*std::get<1>(future.poll(waker.cx).value()), 5);
}

TEST(Select, ThrowsTheExceptionOfTheFirstToFinishAndDropsTheOthers) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = select(a.future(), b.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.fail("b");
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_EQ(a.alive(), 0);
  EXPECT_EQ(b.alive(), 0);
}

Async<std::string> slow() {
  for (int i = 0; i < 10; ++i) co_await yield_now();
  co_return "slow";
}
Async<std::string> quick() {
  co_await yield_now();
  co_return "quick";
}
Async<std::string> first_of_two() {
  auto first = co_await select(slow(), quick());
  if (first.index() == 0) co_return std::get<0>(first);
  co_return std::get<1>(first);
}

TEST(Select, IsAwaitedByCoroutinesAndCancelsTheLoser) {
  CountingWaker waker;
  auto future = first_of_two();
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), "quick");
}

TEST(Select, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) {
    return select(gates[0].future(), gates[1].future(), gates[2].future());
  });
  check_contracts(2, [](Gates& gates) { return select(gates[1].future(), gates[0].future()); });
}

TEST(SelectDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = select(ready(1));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "select.* polled again");
}

TEST(SelectDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  auto future = select(pending_forever());
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(future)(std::move(future))),
               "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
