#include "rouse/future/race.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Race, GivesTheValueOfTheFirst) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = race(a.future(), b.future(), pending_forever<int>());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open(2);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(future.poll(waker.cx).value(), 2);
  EXPECT_EQ(a.alive(), 0);
  EXPECT_EQ(b.alive(), 0);
}

TEST(Race, PrefersTheFirstListedWhenSeveralAreReady) {
  CountingWaker waker;
  EXPECT_EQ(race(ready(1), ready(2)).poll(waker.cx).value(), 1);
}

TEST(Race, OfVoidIsVoid) {
  CountingWaker waker;
  auto future = race(pending_forever(), ready());
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
}

TEST(Race, GivesReferencesAndMoveOnlyValuesAsTheyAre) {
  CountingWaker waker;
  int number = 1;
  Gate<int&> gate;
  gate.open(&number);
  auto reference = race(pending_forever<int&>(), gate.future());
  EXPECT_EQ(&reference.poll(waker.cx).value(), &number);
  auto moved = race(ready(std::make_unique<int>(1)), ready(std::make_unique<int>(2)));
  EXPECT_EQ(*moved.poll(waker.cx).value(), 1);
}

TEST(Race, ThrowsTheExceptionOfTheFirstToFinishAndDropsTheOthers) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = race(a.future(), b.future());
  b.fail("b");
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_EQ(a.alive(), 0);
}

TEST(Race, KeepsTheFutureContracts) {
  check_contracts(2, [](Gates& gates) { return race(gates[0].future(), gates[1].future()); });
  check_contracts(2, [](Gates& gates) { return race(gates[1].future(), gates[0].future()); });
}

TEST(RaceDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = race(ready(1));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "race.* polled again");
}

TEST(RaceDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = race(gate.future(), pending_forever<int>());
  auto moved = std::move(future);
  static_cast<void>(moved.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))), "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
