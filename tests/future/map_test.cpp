#include "rouse/future/map.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/future/ready.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Map, TurnsTheOutputIntoWhatTheFunctionReturns) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = map(gate.future(), [](int x) { return std::to_string(x); });
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  gate.open(42);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(future.poll(waker.cx).value(), "42");
}

TEST(Map, PassesVoidAsNoArgumentAndMayReturnVoid) {
  CountingWaker waker;
  bool ran = false;
  auto future = map(map(ready(), [] { return 1; }), [&](int) { ran = true; });
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_TRUE(ran);
}

TEST(Map, MovesMoveOnlyValuesThrough) {
  CountingWaker waker;
  auto future = map(ready(std::make_unique<int>(3)), [](std::unique_ptr<int> p) { return p; });
  EXPECT_EQ(*future.poll(waker.cx).value(), 3);
}

TEST(Map, CallsAMoveOnlyFunctionOnce) {
  CountingWaker waker;
  auto future = map(ready(1), [own = std::make_unique<int>(2)](int x) mutable { return x + *own; });
  EXPECT_EQ(future.poll(waker.cx).value(), 3);
}

TEST(Map, DestroysTheFutureBeforeItCallsTheFunction) {
  CountingWaker waker;
  Gate<int> gate;
  gate.open(1);
  int alive = -1;
  auto future = map(gate.future(), [&](int) { return alive = gate.alive(); });
  static_cast<void>(future.poll(waker.cx));
  EXPECT_EQ(alive, 0);
}

TEST(Map, ThrowsWhatTheFutureOrTheFunctionThrows) {
  CountingWaker waker;
  Gate<int> gate;
  gate.fail("child");
  bool called = false;
  auto child = map(gate.future(), [&](int) { called = true; });
  EXPECT_THROW(static_cast<void>(child.poll(waker.cx)), TestError);
  EXPECT_FALSE(called);
  EXPECT_EQ(gate.alive(), 0);
  auto function = map(ready(1), [](int) -> int { throw TestError("function"); });
  EXPECT_THROW(static_cast<void>(function.poll(waker.cx)), TestError);
}

TEST(Map, KeepsACopyableFutureGivenAsAnLvalue) {
  CountingWaker waker;
  const auto one = ready(1);
  auto future = map(one, [](int x) { return x + 1; });
  EXPECT_EQ(future.poll(waker.cx).value(), 2);
}

TEST(Map, KeepsTheFutureContracts) {
  check_contracts(1, [](Gates& gates) { return map(gates[0].future(), [](int x) { return x; }); });
}

TEST(MapDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = map(ready(1), [](int x) { return x; });
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "map.* polled again");
}

TEST(MapDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = map(gate.future(), [](int x) { return x; });
  auto moved = std::move(future);
  static_cast<void>(moved.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))), "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
