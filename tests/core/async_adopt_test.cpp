// Async: awaiting one that somebody has polled by hand before. Its chain joins the awaiting one.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

using Log = std::vector<std::string>;
using test::Note;
using test::poll_once;
using testing::Gate;
using testing::PollHarness;

/// A chain of `depth` coroutines below the first, on a gate.
Async<int> wait_at_depth(Gate<int>& gate, int depth, Log& log) {
  const Note note(log, "depth " + std::to_string(depth));
  if (depth == 0) co_return co_await gate.wait();
  co_return 1 + co_await wait_at_depth(gate, depth - 1, log);
}

/// Awaits what it is given, itself `depth` coroutines down.
Async<int> adopt_at_depth(Async<int> started, int depth) {
  if (depth == 0) co_return 100 + co_await started;
  co_return 100 + co_await adopt_at_depth(std::move(started), depth - 1);
}

struct Depths {
  int child;
  int parent;
};

class AsyncPolledBefore : public ::testing::TestWithParam<Depths> {
 protected:
  Async<int> started_child() {
    auto child = wait_at_depth(gate_, GetParam().child, log_);
    EXPECT_TRUE(poll_once(child).is_pending());
    return child;
  }
  [[nodiscard]] int expected(int value) const {
    return value + GetParam().child + 100 * (GetParam().parent + 1);
  }

  Gate<int> gate_;
  Log log_;
};

INSTANTIATE_TEST_SUITE_P(AtDepth, AsyncPolledBefore,
                         ::testing::Values(Depths{0, 0}, Depths{0, 3}, Depths{3, 0}, Depths{3, 3}),
                         [](const auto& each) {
                           return "Child" + std::to_string(each.param.child) + "Parent" +
                                  std::to_string(each.param.parent);
                         });

TEST_P(AsyncPolledBefore, IsAwaitedWhileItsLeafIsPending) {
  PollHarness h(adopt_at_depth(started_child(), GetParam().parent));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_TRUE(h.kept_waker());  // the leaf has the new waker now
  EXPECT_EQ(gate_.polls(), 2u);
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_EQ(gate_.polls(), 3u);
  gate_.open(5);
  EXPECT_TRUE(h.is_woken());
  EXPECT_EQ(h.poll().value(), expected(5));
  EXPECT_EQ(gate_.polls(), 4u);
}

TEST_P(AsyncPolledBefore, IsAwaitedWhenItsLeafIsReadyByThen) {
  auto child = started_child();
  gate_.open(5);
  PollHarness h(adopt_at_depth(std::move(child), GetParam().parent));
  EXPECT_EQ(h.poll().value(), expected(5));
}

TEST_P(AsyncPolledBefore, DeliversWhatItsLeafThrowsAtOnce) {
  auto child = started_child();
  gate_.fail(std::make_exception_ptr(std::runtime_error("leaf")));
  PollHarness h(adopt_at_depth(std::move(child), GetParam().parent));
  EXPECT_THROW((void)h.poll(), std::runtime_error);
}

TEST_P(AsyncPolledBefore, DeliversWhatItsLeafThrowsLater) {
  PollHarness h(adopt_at_depth(started_child(), GetParam().parent));
  EXPECT_TRUE(h.poll().is_pending());
  gate_.fail(std::make_exception_ptr(std::runtime_error("leaf")));
  EXPECT_THROW((void)h.poll(), std::runtime_error);
}

TEST_P(AsyncPolledBefore, IsDestroyedWithItsParentInnermostFirst) {
  {
    PollHarness h(adopt_at_depth(started_child(), GetParam().parent));
    EXPECT_TRUE(h.poll().is_pending());
    EXPECT_TRUE(log_.empty());
  }
  Log innermost_first;
  for (int i = 0; i <= GetParam().child; ++i) {
    innermost_first.push_back("depth " + std::to_string(i));
  }
  EXPECT_EQ(log_, innermost_first);
}

TEST_P(AsyncPolledBefore, IsDestroyedWithAParentThatNeverAwaitedIt) {
  {
    PollHarness h(adopt_at_depth(started_child(), GetParam().parent));
  }
  EXPECT_EQ(log_.size(), static_cast<std::size_t>(GetParam().child) + 1);
}

TEST_P(AsyncPolledBefore, IsSeenInTheBacktraceOfItsParent) {
  auto future = adopt_at_depth(started_child(), GetParam().parent);
  EXPECT_TRUE(poll_once(future).is_pending());
  std::size_t awaits = 0;
  future.visit_awaits([&](const std::source_location&) { ++awaits; });
  EXPECT_EQ(awaits, static_cast<std::size_t>(GetParam().child + GetParam().parent + 2));
}

/// The child goes on to further leaves after it was adopted, and the parent after the child.
Async<int> several_leaves(Log& log) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += co_await test::ReadyAfter<int>(2, 1);
    log.push_back("leaf " + std::to_string(i));
  }
  co_return sum;
}
Async<int> poll_then_await(int polls, Log& log) {
  auto child = several_leaves(log);
  for (int i = 0; i < polls; ++i) EXPECT_TRUE(poll_once(child).is_pending());
  int sum = co_await child;
  sum += co_await test::ReadyAfter<int>(1, 10);
  sum += co_await several_leaves(log);
  co_return sum;
}

TEST(Async, PolledAnyNumberOfTimesBeforeIsAwaitedToItsEnd) {
  for (int polls = 0; polls <= 6; ++polls) {
    Log log;
    PollHarness h(poll_then_await(polls, log));
    EXPECT_EQ(h.poll_until_ready(50).value(), 16);
    EXPECT_EQ(log, (Log{"leaf 0", "leaf 1", "leaf 2", "leaf 0", "leaf 1", "leaf 2"}));
  }
}

Async<std::string> catch_from_started() {
  const auto child_of = [](int k) -> Async<int> { co_return co_await test::ThrowsAt(k, "late"); };
  auto child = child_of(3);
  EXPECT_TRUE(poll_once(child).is_pending());
  std::string what;
  try {
    (void)co_await child;
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  co_await test::PendingOnce();
  co_return what;
}

TEST(Async, CatchesWhatAStartedChildThrows) {
  PollHarness h(catch_from_started());
  EXPECT_EQ(h.poll_until_ready(5).value(), "late");
}

Async<int> adopt_a_parent_that_adopted(Gate<int>& gate, Log& log) {
  auto innermost = wait_at_depth(gate, 1, log);
  EXPECT_TRUE(poll_once(innermost).is_pending());
  auto middle = adopt_at_depth(std::move(innermost), 1);
  EXPECT_TRUE(poll_once(middle).is_pending());
  co_return co_await middle;
}

TEST(Async, AdoptsAChainThatHasAdoptedAnother) {
  Gate<int> gate;
  Log log;
  {
    PollHarness h(adopt_a_parent_that_adopted(gate, log));
    EXPECT_TRUE(h.poll().is_pending());
    EXPECT_TRUE(h.kept_waker());
    gate.open(1);
    EXPECT_EQ(h.poll().value(), 202);
    EXPECT_EQ(log.size(), 2u);
  }
  log.clear();
  {
    PollHarness h(adopt_a_parent_that_adopted(gate, log));
    EXPECT_TRUE(h.poll().is_pending());
  }
  EXPECT_EQ(log, (Log{"depth 0", "depth 1"}));
}

Async<int> await_a_finished(Gate<int>& gate, Log& log) {
  auto child = wait_at_depth(gate, 0, log);
  gate.open(1);
  EXPECT_TRUE(poll_once(child).is_ready());
  co_return co_await child;
}
Async<int> await_shared(Async<int>& shared) { co_return co_await shared; }

TEST(AsyncDeathTest, AwaitingOneThatWasPolledToItsEndIsRefusedByName) {
  Gate<int> gate;
  Log log;
  auto future = await_a_finished(gate, log);
  EXPECT_DEATH((void)poll_once(future), "awaited again.*wait_at_depth");
}

TEST(AsyncDeathTest, AwaitedByTwoAtOnceIsRefusedByName) {
  Gate<int> gate;
  Log log;
  auto shared = wait_at_depth(gate, 0, log);
  auto first = await_shared(shared);
  auto second = await_shared(shared);
  EXPECT_TRUE(poll_once(first).is_pending());
  EXPECT_DEATH((void)poll_once(second), "awaited again, by two at once.*wait_at_depth");
}

TEST(AsyncDeathTest, PolledWhileAnotherAwaitsItIsRefusedByName) {
  Gate<int> gate;
  Log log;
  auto shared = wait_at_depth(gate, 0, log);
  auto first = await_shared(shared);
  EXPECT_TRUE(poll_once(first).is_pending());
  EXPECT_DEATH((void)poll_once(shared), "while another awaits it.*wait_at_depth");
}

}  // namespace
}  // namespace rouse
