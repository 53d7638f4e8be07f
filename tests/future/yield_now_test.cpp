#include "rouse/future/yield_now.hpp"

#include <gtest/gtest.h>

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(YieldNow, IsPendingOnceAndWakesItself) {
  CountingWaker waker;
  auto future = yield_now();
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(YieldNow, KeepsTheFutureContracts) {
  check_contracts(0, [](Gates&) { return yield_now(); });
}

TEST(YieldNowDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = yield_now();
  static_cast<void>(future.poll(waker.cx));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "yield_now.* polled again");
}

}  // namespace
}  // namespace rouse::test
