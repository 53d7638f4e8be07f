#include "rouse/core/poll.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace rouse {
namespace {

TEST(Poll, IsPendingOrReadyWithAValue) {
  const Poll<int> waiting = pending;
  EXPECT_TRUE(waiting.is_pending());
  EXPECT_FALSE(waiting.is_ready());

  const auto ready = Poll<int>::ready(7);
  EXPECT_TRUE(ready.is_ready());
  EXPECT_FALSE(ready.is_pending());
  EXPECT_EQ(ready.value(), 7);
}

TEST(Poll, OfVoidIsPendingOrReady) {
  const Poll<void> waiting = pending;
  EXPECT_TRUE(waiting.is_pending());
  const auto ready = Poll<void>::ready();
  EXPECT_TRUE(ready.is_ready());
  ready.value();
}

TEST(Poll, OfAReferenceRefersToTheObjectItself) {
  int x = 1;
  auto poll = Poll<int&>::ready(x);
  poll.value() = 2;
  EXPECT_EQ(x, 2);
  EXPECT_EQ(&std::move(poll).value(), &x);

  const std::string text = "a";
  auto constant = Poll<const std::string&>::ready(text);
  EXPECT_EQ(&constant.value(), &text);
}

TEST(Poll, OfAMoveOnlyValueIsMovedOut) {
  auto poll = Poll<std::unique_ptr<int>>::ready(std::make_unique<int>(3));
  Poll<std::unique_ptr<int>> moved = std::move(poll);
  const std::unique_ptr<int> value = std::move(moved).value();
  EXPECT_EQ(*value, 3);
}

TEST(Poll, ConvertsTheReadyValueToItsType) {
  const auto poll = Poll<std::string>::ready("text");
  EXPECT_EQ(poll.value(), "text");
}

TEST(Poll, MapCallsTheFunctionOnAReadyValueOnly) {
  int calls = 0;
  const auto twice = [&](int x) {
    ++calls;
    return 2L * x;
  };
  EXPECT_EQ(Poll<int>::ready(4).map(twice).value(), 8L);
  EXPECT_TRUE(Poll<int>(pending).map(twice).is_pending());
  EXPECT_EQ(calls, 1);
}

TEST(Poll, MapToVoidAndFromVoidWorks) {
  int calls = 0;
  const Poll<void> to_void = Poll<int>::ready(4).map([&](int) { ++calls; });
  EXPECT_TRUE(to_void.is_ready());
  EXPECT_EQ(to_void.map([] { return 5; }).value(), 5);
  EXPECT_TRUE(to_void.map([&] { ++calls; }).is_ready());
  EXPECT_TRUE(Poll<void>(pending).map([&] { ++calls; }).is_pending());
  EXPECT_EQ(calls, 2);
}

TEST(Poll, IsUsableInConstantExpressions) {
  static_assert(Poll<int>::ready(3).value() == 3);
  static_assert(Poll<int>(pending).is_pending());
  static_assert(Poll<void>::ready().is_ready());
}

TEST(PollDeathTest, TheValueOfAPendingPollIsRefused) {
  Poll<int> poll = pending;
  EXPECT_DEATH((void)poll.value(), "value\\(\\) of a pending Poll: ask is_ready\\(\\) first");
  EXPECT_DEATH(Poll<void>(pending).value(), "value\\(\\) of a pending Poll");
}

}  // namespace
}  // namespace rouse
