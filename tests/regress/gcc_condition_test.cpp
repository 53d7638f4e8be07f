// GCC 12 compiles a coroutine that awaits in the condition of an `if` or `while`, and declares no
// variable in its outermost block, to one that does nothing: it neither suspends nor ends. It would
// look as if it waited for ever; instead the program stops and says what to write.
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/ready.hpp"

namespace {

using namespace rouse;

Async<bool> yes() { co_return true; }

Async<int> with_a_variable() {
  const bool go = co_await yes();
  if (go) co_return 1;
  co_return 2;
}
Async<int> in_the_condition_as_a_variable() {
  if (const bool go = co_await yes(); go) co_return 1;
  co_return 2;
}
TEST(GccCondition, AnAwaitThatIsAVariableWorks) {
  EXPECT_EQ(block_on(with_a_variable()), 1);
  EXPECT_EQ(block_on(in_the_condition_as_a_variable()), 1);
}

Async<int> in_the_condition() {
  if (co_await yes()) co_return 1;
  co_return 2;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
TEST(GccConditionDeathTest, AnAwaitInAConditionStopsTheProgramWithAHint) {
  EXPECT_DEATH((void)block_on(in_the_condition()), "await into a variable first");
}
#else
TEST(GccCondition, AnAwaitInAConditionWorks) { EXPECT_EQ(block_on(in_the_condition()), 1); }
#endif

}  // namespace
