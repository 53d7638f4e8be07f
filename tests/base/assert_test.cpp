#include "rouse/base/assert.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace rouse {
namespace {

TEST(Assert, EvaluatesAConditionThatHoldsOnceAndGoesOn) {
  int evaluated = 0;
  ROUSE_ASSERT(++evaluated == 1, "never said");
  EXPECT_EQ(evaluated, 1);
}

TEST(Assert, AcceptsWhateverConvertsToBool) {
  int x = 0;
  int* pointer = &x;
  ROUSE_ASSERT(pointer, "never said");
  EXPECT_EQ(*pointer, 0);
}

TEST(AssertDeathTest, SaysWhatHappenedAndWhere) {
  EXPECT_DEATH(ROUSE_ASSERT(1 + 1 == 3, "sums are wrong: use a calculator"),
               "^rouse: sums are wrong: use a calculator\n.*assert_test\\.cpp:[0-9]+\\)\n");
}

TEST(AssertDeathTest, SaysWhoAndDetailsWhereGiven) {
  EXPECT_DEATH(ROUSE_ASSERT(false, "what", "some_function()", "last await: a.cpp:3"),
               "what\n  in: some_function\\(\\)\n  last await: a.cpp:3\n");
}

TEST(AssertDeathTest, EndsByAbort) {
  EXPECT_EXIT(ROUSE_ASSERT(false, "what"), ::testing::KilledBySignal(SIGABRT), "what");
}

}  // namespace
}  // namespace rouse
