#include "rouse/future/join.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Join, IsReadyWithAllOutputsWhenTheLastChildIs) {
  CountingWaker waker;
  Gate<int> a;
  Gate<std::string> b;
  auto future = join(a.future(), b.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open("b");
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  a.open(1);
  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_EQ(future.poll(waker.cx).value(), std::tuple(1, std::string("b")));
}

TEST(Join, PutsUnitForVoidAndAPointerForAReference) {
  CountingWaker waker;
  Gate<void> gate;
  Gate<int&> reference;
  int number = 3;
  auto future = join(gate.future(), ready(std::make_unique<int>(2)), reference.future());
  gate.open();
  reference.open(&number);
  auto poll = future.poll(waker.cx);
  static_assert(
      std::is_same_v<decltype(future)::Output, std::tuple<Unit, std::unique_ptr<int>, int*>>);
  EXPECT_EQ(*std::get<1>(poll.value()), 2);
  EXPECT_EQ(std::get<2>(poll.value()), &number);
}

TEST(Join, OfNothingIsReadyAtOnce) {
  CountingWaker waker;
  EXPECT_TRUE(join().poll(waker.cx).is_ready());
}

TEST(Join, DestroysAChildAsSoonAsItIsReadyAndDoesNotPollItAgain) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = join(a.future(), b.future());
  a.open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(a.alive(), 0);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(a.polls(), 1);
  EXPECT_EQ(b.polls(), 2);
}

TEST(Join, WaitsForEveryChildBeforeRethrowingTheFirstException) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  Gate<int> c;
  auto future = join(a.future(), b.future(), c.future());
  c.fail("c was first");
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(c.alive(), 0);
  a.fail("a was second");
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open(1);
  try {
    static_cast<void>(future.poll(waker.cx));
    FAIL() << "nothing was thrown";
  } catch (const TestError& error) {
    EXPECT_STREQ(error.what(), "c was first");
  }
}

TEST(Join, ReleasesAllOutputsWhenItIsReady) {
  CountingWaker waker;
  auto output = std::make_shared<int>(1);
  auto future = join(ready(output), ready(output));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_EQ(output.use_count(), 1);
}

Async<int> number(int x) {
  co_await yield_now();
  co_return x;
}
Async<int> sum() {
  auto [a, b] = co_await join(number(1), number(2));
  auto nested = co_await join(join(number(a), number(b)), number(4));
  co_return std::get<0>(std::get<0>(nested)) + std::get<1>(std::get<0>(nested)) +
      std::get<1>(nested);
}

TEST(Join, IsAwaitedByCoroutinesAndRunsThemAsChildren) {
  CountingWaker waker;
  auto future = sum();
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), 7);
}

TEST(Join, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) {
    return join(gates[0].future(), gates[1].future(), gates[2].future());
  });
  check_contracts(2, [](Gates& gates) { return join(gates[1].future(), gates[0].future()); });
}

TEST(JoinDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = join(ready(1));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "join.* polled again");
}

TEST(JoinDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = join(gate.future());
  auto moved = std::move(future);
  static_cast<void>(moved.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))), "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
