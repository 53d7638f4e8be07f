#include "rouse/future/lazy.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Lazy, RunsItsFunctionAtTheFirstPollAndNotBefore) {
  CountingWaker waker;
  int runs = 0;
  auto future = lazy([&] { return ++runs; });
  auto moved = std::move(future);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(moved.poll(waker.cx).value(), 1);
}

TEST(Lazy, NeverRunsIfItIsDroppedUnpolled) {
  int runs = 0;
  {
    [[maybe_unused]] const auto future = lazy([&] { ++runs; });
  }
  EXPECT_EQ(runs, 0);
}

TEST(Lazy, MayReturnNothing) {
  CountingWaker waker;
  bool ran = false;
  auto future = lazy([&] { ran = true; });
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_TRUE(ran);
}

TEST(Lazy, OwnsMoveOnlyCapturesUntilItHasRun) {
  CountingWaker waker;
  auto captured = std::make_shared<int>(5);
  auto future = lazy([captured, own = std::make_unique<int>(1)] { return *captured + *own; });
  EXPECT_EQ(future.poll(waker.cx).value(), 6);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(Lazy, ThrowsWhatItsFunctionThrows) {
  CountingWaker waker;
  auto future = lazy([]() -> int { throw TestError("lazy"); });
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
}

TEST(Lazy, KeepsTheFutureContracts) {
  check_contracts(0, [](Gates&) { return lazy([] { return 1; }); });
  check_contracts(0, [](Gates&) { return lazy([] {}); });
}

TEST(LazyDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = lazy([] {});
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "lazy.* polled again");
}

}  // namespace
}  // namespace rouse::test
