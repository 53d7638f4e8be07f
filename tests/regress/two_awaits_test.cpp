// GCC 12 transforms all awaits of an expression before it awaits the first. A future polled in its
// transformation would miss the wake that comes while the coroutine is suspended on another.
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {
namespace {

using testing::Gate;

Async<int> sum(Gate<int>* a, Gate<int>* b) { co_return co_await a->wait() + co_await b->wait(); }

TEST(TwoAwaits, InOneExpressionEachSeesItsWakeWhicheverComesFirst) {
  for (const bool second_first : {false, true}) {
    Gate<int> a;
    Gate<int> b;
    LocalExecutor executor;
    auto task = executor.spawn(sum, &a, &b);
    executor.run_until(yield_now());
    (second_first ? b : a).open(1);
    executor.run_until(yield_now());
    (second_first ? a : b).open(2);
    executor.run_until(yield_now());
    ASSERT_TRUE(task.is_finished()) << second_first;
    EXPECT_EQ(executor.run_until(task), 3);
  }
}

}  // namespace
}  // namespace rouse
