#include "rouse/future/try_join.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/future/ready.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(TryJoin, OfPlainOutputsGivesThePlainTuple) {
  CountingWaker waker;
  Gate<int> a;
  auto future = try_join(a.future(), ready(std::make_unique<int>(2)), ready());
  static_assert(
      std::is_same_v<decltype(future)::Output, std::tuple<int, std::unique_ptr<int>, Unit>>);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  a.open(1);
  auto output = future.poll(waker.cx).value();
  EXPECT_EQ(std::get<0>(output), 1);
  EXPECT_EQ(*std::get<1>(output), 2);
}

TEST(TryJoin, OfResultsGivesAResultOfTheUnwrappedValues) {
  CountingWaker waker;
  auto future = try_join(ready(Result<int>(1)), ready(Result<void>()), ready(std::string("x")),
                         ready(Result<std::unique_ptr<int>>(std::make_unique<int>(4))));
  static_assert(std::is_same_v<decltype(future)::Output,
                               Result<std::tuple<int, Unit, std::string, std::unique_ptr<int>>>>);
  auto output = future.poll(waker.cx).value();
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(std::get<0>(*output), 1);
  EXPECT_EQ(std::get<2>(*output), "x");
  EXPECT_EQ(*std::get<3>(*output), 4);
}

TEST(TryJoin, EndsAtTheFirstErrorAndDropsTheRestAtOnce) {
  CountingWaker waker;
  Gate<std::shared_ptr<int>> done;
  Gate<Result<int>> failing;
  Gate<int> waiting;
  auto output = std::make_shared<int>(1);
  auto future = try_join(done.future(), failing.future(), waiting.future());
  done.open(output);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  failing.open(std::errc::timed_out);
  auto result = future.poll(waker.cx).value();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), std::errc::timed_out);
  EXPECT_EQ(waiting.alive(), 0);
  EXPECT_EQ(waiting.polls(), 1) << "nothing is polled after the failure";
  EXPECT_EQ(failing.alive(), 0);
  EXPECT_EQ(done.alive(), 0);
}

TEST(TryJoin, ThrowsTheFirstExceptionAndDropsTheRestAtOnce) {
  CountingWaker waker;
  Gate<int> failing;
  Gate<Result<void>> waiting;
  auto future = try_join(failing.future(), waiting.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  failing.fail("failed");
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_EQ(waiting.alive(), 0);
  EXPECT_EQ(waiting.polls(), 1);
}

TEST(TryJoin, ReportsTheFailureThatIsListedFirstWhenTwoFailInOnePoll) {
  CountingWaker waker;
  auto future = try_join(ready(Result<int>(1)), ready(Result<int>(std::errc::io_error)),
                         ready(Result<int>(std::errc::timed_out)));
  EXPECT_EQ(future.poll(waker.cx).value().error(), std::errc::io_error);
}

TEST(TryJoin, KeepsTheFutureContracts) {
  check_contracts(2, [](Gates& gates) { return try_join(gates[0].future(), gates[1].future()); });
  check_contracts(2, [](Gates& gates) {
    return try_join(gates[1].future(), ready(Result<int>(1)), gates[0].future());
  });
}

TEST(TryJoinDeathTest, IsNotPolledAgainAfterItFailed) {
  CountingWaker waker;
  auto future = try_join(ready(Result<int>(std::errc::io_error)));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "try_join.* polled again");
}

TEST(TryJoinDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  Gate<int> gate;
  auto future = try_join(gate.future(), ready(1));
  auto moved = std::move(future);
  static_cast<void>(moved.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))), "moved after its first poll");
}

}  // namespace
}  // namespace rouse::test
