#include "rouse/future/ready.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "rouse/future/pending_forever.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Ready, GivesItsValueAtTheFirstPoll) {
  CountingWaker waker;
  auto future = ready(std::string("done"));
  EXPECT_EQ(future.poll(waker.cx).value(), "done");
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(Ready, CarriesMoveOnlyValues) {
  CountingWaker waker;
  auto future = ready(std::make_unique<int>(7));
  auto moved = std::move(future);
  EXPECT_EQ(*moved.poll(waker.cx).value(), 7);
}

TEST(Ready, WithoutAValueIsVoid) {
  CountingWaker waker;
  static_assert(std::is_void_v<decltype(ready())::Output>);
  EXPECT_TRUE(ready().poll(waker.cx).is_ready());
}

TEST(Ready, KeepsACopyOfAnLvalue) {
  CountingWaker waker;
  std::string text = "text";
  auto future = ready(text);
  text = "changed";
  EXPECT_EQ(future.poll(waker.cx).value(), "text");
}

TEST(Ready, KeepsTheFutureContracts) {
  check_contracts(0, [](Gates&) { return ready(1); });
  check_contracts(0, [](Gates&) { return ready(); });
}

TEST(ReadyDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = ready(1);
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "polled again after it was ready");
}

TEST(PendingForever, IsNeverReadyAndKeepsNoWaker) {
  CountingWaker waker;
  auto future = pending_forever<std::string>();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_TRUE(pending_forever().poll(waker.cx).is_pending());
}

}  // namespace
}  // namespace rouse::test
