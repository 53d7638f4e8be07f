#include "rouse/core/context.hpp"

#include <type_traits>

#include <gtest/gtest.h>

#include "rouse/testing/counting_waker.hpp"

namespace rouse {
namespace {

TEST(Context, LendsTheWakerItselfWithoutCloning) {
  const testing::CountingWaker counting;
  const Context cx(counting.waker());
  EXPECT_EQ(&cx.waker(), &counting.waker());
  EXPECT_EQ(counting.clones_made(), 0u);
}

TEST(Context, ItsBudgetEndsWithAWakeAndChildrenShareIt) {
  testing::CountingWaker task;
  testing::CountingWaker child;
  Context cx(task.waker(), 3);
  Context inner(child.waker(), cx);
  EXPECT_TRUE(cx.take_budget());
  EXPECT_TRUE(inner.take_budget());
  EXPECT_TRUE(inner.take_budget());
  EXPECT_EQ(task.count() + child.count(), 0U);
  EXPECT_FALSE(inner.take_budget());
  EXPECT_EQ(child.count(), 1U);
  EXPECT_FALSE(cx.take_budget());
  EXPECT_EQ(task.count(), 1U);
}

TEST(Context, SaysWhetherAStepIsLeftWithoutTakingIt) {
  testing::CountingWaker task;
  testing::CountingWaker child;
  Context cx(task.waker(), 1);
  const Context inner(child.waker(), cx);
  EXPECT_TRUE(inner.has_budget());
  EXPECT_TRUE(inner.has_budget());
  EXPECT_TRUE(cx.take_budget());
  EXPECT_EQ(child.count(), 0U);
  EXPECT_FALSE(inner.has_budget());
  EXPECT_EQ(child.count(), 1U);
}

TEST(Context, MadeForPollingByHandItsBudgetHasNoEnd) {
  testing::CountingWaker waker;
  const Context cx(waker.waker());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(cx.take_budget());
  EXPECT_EQ(waker.count(), 0U);
}

TEST(Context, IsNeitherMadeFromATemporaryNorCopied) {
  static_assert(!std::is_constructible_v<Context, Waker, std::uint32_t>);
  static_assert(!std::is_constructible_v<Context, Waker, Context&>);
  static_assert(std::is_constructible_v<Context, const Waker&>);
  static_assert(!std::is_constructible_v<Context, Waker>);
  static_assert(!std::is_constructible_v<Context, const Waker>);
  static_assert(!std::is_convertible_v<const Waker&, Context>);
  static_assert(!std::is_copy_constructible_v<Context>);
}

TEST(KeepWaker, ClonesIntoAnEmptySlot) {
  const testing::CountingWaker counting;
  const Context cx(counting.waker());
  Waker slot;
  keep_waker(slot, cx);
  EXPECT_TRUE(slot.will_wake(counting.waker()));
  EXPECT_EQ(counting.clones(), 1u);
}

TEST(KeepWaker, LeavesAWakerOfTheSameTaskAsItIs) {
  const testing::CountingWaker counting;
  const Context cx(counting.waker());
  Waker slot;
  keep_waker(slot, cx);
  keep_waker(slot, cx);
  EXPECT_EQ(counting.clones_made(), 1u);
}

TEST(KeepWaker, ReplacesAWakerOfAnotherTask) {
  const testing::CountingWaker first;
  const testing::CountingWaker second;
  Waker slot;
  keep_waker(slot, Context(first.waker()));
  keep_waker(slot, Context(second.waker()));
  EXPECT_EQ(first.clones(), 0u);
  EXPECT_TRUE(slot.will_wake(second.waker()));
}

}  // namespace
}  // namespace rouse
