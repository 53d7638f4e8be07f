#include "rouse/future/and_then.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

Async<int> twice(int x) { co_return 2 * x; }

TEST(AndThen, RunsTheFutureThatTheFunctionReturns) {
  CountingWaker waker;
  Gate<int> first;
  Gate<std::string> second;
  auto future = and_then(first.future(), [&](int) { return second.future(); });
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  first.open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(second.polls(), 1) << "the second is polled at once";
  second.open("end");
  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_EQ(future.poll(waker.cx).value(), "end");
}

TEST(AndThen, TakesACoroutine) {
  CountingWaker waker;
  auto future = and_then(twice(2), twice);
  EXPECT_EQ(future.poll(waker.cx).value(), 8);
}

TEST(AndThen, TakesAFunctionThatReturnsAValue) {
  CountingWaker waker;
  auto future = and_then(ready(2), [](int x) { return x + 1; });
  EXPECT_EQ(future.poll(waker.cx).value(), 3);
}

TEST(AndThen, WorksWithVoidOnBothSides) {
  CountingWaker waker;
  int runs = 0;
  auto future = and_then(and_then(ready(), [&] { return ready(++runs); }), [&](int) {
    ++runs;
    return ready();
  });
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_EQ(runs, 2);
}

TEST(AndThen, MovesMoveOnlyValuesThrough) {
  CountingWaker waker;
  auto future = and_then(ready(std::make_unique<int>(3)),
                         [](std::unique_ptr<int> p) { return ready(std::move(p)); });
  EXPECT_EQ(*future.poll(waker.cx).value(), 3);
}

TEST(AndThen, DestroysEachFutureAsSoonAsItIsReady) {
  CountingWaker waker;
  Gate<int> first;
  Gate<int> second;
  int alive = -1;
  auto future = and_then(first.future(), [&](int) {
    alive = first.alive();
    return second.future();
  });
  first.open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(alive, 0);
  second.open(2);
  EXPECT_EQ(future.poll(waker.cx).value(), 2);
  EXPECT_EQ(second.alive(), 0);
}

TEST(AndThen, ACoroutineMayTakeAReferenceToTheOutput) {
  CountingWaker waker;
  const std::string text(100, 'x');
  auto future = and_then(ready(text), [](const std::string& output) -> Async<std::string> {
    co_await yield_now();
    co_return output;
  });
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), text);
}

TEST(AndThen, ThrowsWhatTheFunctionThrows) {
  CountingWaker waker;
  auto future = and_then(ready(1), [](int) -> Ready<int> { throw TestError("function"); });
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
}

TEST(AndThen, KeepsTheFutureContracts) {
  check_contracts(2, [](Gates& gates) {
    return and_then(gates[0].future(), [&gates](int) { return gates[1].future(); });
  });
}

TEST(AndThenDeathTest, IsNotPolledAgainNotEvenAfterItThrew) {
  CountingWaker waker;
  auto future = and_then(ready(1), [](int) -> Ready<int> { throw TestError("function"); });
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "and_then.* polled again");
}

TEST(AndThenDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = and_then(gate.future(), [](int x) { return ready(x); });
  auto moved = std::move(future);
  static_cast<void>(moved.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))), "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
