#include "rouse/future/poll_fn.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(PollFn, IsPolledThroughItsFunction) {
  CountingWaker waker;
  int polls = 0;
  auto future = poll_fn([&](Context& cx) -> Poll<int> {
    if (++polls < 3) {
      cx.waker().wake_by_ref();
      return pending;
    }
    return Poll<int>::ready(polls);
  });
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), 3);
  EXPECT_EQ(waker.wakes(), 2);
}

Poll<void> ready_at_once(Context&) { return Poll<void>::ready(); }

TEST(PollFn, TakesAPlainFunction) {
  CountingWaker waker;
  EXPECT_TRUE(poll_fn(ready_at_once).poll(waker.cx).is_ready());
}

TEST(PollFn, DestroysItsFunctionWhenItIsReady) {
  CountingWaker waker;
  auto captured = std::make_shared<int>(1);
  auto future = poll_fn([captured](Context&) { return Poll<int>::ready(*captured); });
  EXPECT_EQ(captured.use_count(), 2);
  EXPECT_EQ(future.poll(waker.cx).value(), 1);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(PollFn, KeepsTheFutureContracts) {
  check_contracts(1, [](Gates& gates) {
    return poll_fn([gate = std::optional(gates[0].future())](Context& cx) mutable -> Poll<int> {
      try {
        return gate->poll(cx);
      } catch (...) {
        gate.reset();
        throw;
      }
    });
  });
}

TEST(PollFnDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  auto future = poll_fn([](Context&) -> Poll<int> { return pending; });
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(future)(std::move(future))),
               "moved after its first poll");
}

TEST(PollFnDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = poll_fn(ready_at_once);
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "poll_fn.* polled again");
}

}  // namespace
}  // namespace rouse::test
