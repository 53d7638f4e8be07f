#include "rouse/sync/task_tracker.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::TaskTracker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(TaskTracker::Wait) == 64);

TEST(TaskTracker, WaitCompletesWhenItIsClosedAndEmpty) {
  const TaskTracker tracker;
  PollHarness wait(tracker.wait());
  EXPECT_TRUE(wait.poll().is_pending() && wait.kept_waker()) << "it is open";
  std::optional tracked(tracker.track_future(ready(1)));
  EXPECT_EQ(tracker.size(), 1U);
  EXPECT_TRUE(tracker.close());
  EXPECT_FALSE(tracker.close());
  EXPECT_TRUE(tracker.is_closed());
  EXPECT_TRUE(wait.poll().is_pending()) << "it tracks a future";
  EXPECT_EQ(poll_once(*tracked).value(), 1);
  EXPECT_TRUE(wait.poll().is_pending()) << "which is not gone yet";
  tracked.reset();
  EXPECT_TRUE(tracker.empty());
  EXPECT_TRUE(wait.is_woken() && wait.poll().is_ready());
}

TEST(TaskTracker, ATrackerThatTracksNothingIsWaitedForUntilItIsClosed) {
  const TaskTracker tracker;
  PollHarness wait(tracker.wait());
  EXPECT_TRUE(wait.poll().is_pending());
  tracker.close();
  EXPECT_TRUE(wait.is_woken() && wait.poll().is_ready());
  EXPECT_TRUE(PollHarness(tracker.wait()).poll().is_ready());
}

TEST(TaskTracker, WaitSeesThatItWasClosedAndEmptyThoughItWasReopened) {
  const TaskTracker tracker;
  PollHarness before(tracker.wait());
  tracker.close();
  EXPECT_TRUE(tracker.reopen());
  EXPECT_FALSE(tracker.reopen());
  PollHarness after(tracker.wait());
  EXPECT_TRUE(before.poll().is_ready());
  EXPECT_TRUE(after.poll().is_pending());
}

TEST(TaskTracker, ATokenAndItsCopiesCountAsTrackedFutures) {
  const TaskTracker tracker;
  tracker.close();
  std::optional token(tracker.token());
  std::optional copy(token);
  EXPECT_EQ(tracker.size(), 2U);
  PollHarness wait(tracker.wait());
  token.reset();
  EXPECT_TRUE(wait.poll().is_pending());
  copy.reset();
  EXPECT_TRUE(wait.poll().is_ready());
}

TEST(TaskTracker, TheTrackedFutureIsGoneWhenWaitCompletes) {
  const TaskTracker tracker;
  tracker.close();
  bool gone_first = false;
  /// Looks at the tracker when it goes.
  class Future {
   public:
    using Output = void;
    Future(const TaskTracker& in, bool& out) : tracker_(&in), out_(&out) {}
    Future(Future&& other) noexcept
        : tracker_(std::exchange(other.tracker_, nullptr)), out_(other.out_) {}
    ~Future() {
      if (tracker_) *out_ = tracker_->size() == 1;
    }
    Poll<> poll(Context&) { return Poll<>::ready(); }

   private:
    const TaskTracker* tracker_;
    bool* out_;
  };
  {
    auto tracked = tracker.track_future(Future(tracker, gone_first));
  }
  EXPECT_TRUE(gone_first);
  EXPECT_TRUE(tracker.empty());
}

TEST(TaskTracker, WaitDroppedAtEachPollLeavesNoWaker) {
  TaskTracker tracker;
  const auto report = drop_at_each_poll([&] { return (tracker = TaskTracker()).wait(); },
                                        [&](std::size_t) { tracker.close(); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(TaskTracker, AWakerThatReEntersCausesNoDeadlock) {
  const TaskTracker tracker;
  ReentrantWaker waker([&] {
    const auto token = tracker.token();
    tracker.close();
    (void)PollHarness(tracker.wait()).poll();
    tracker.reopen();
  });
  Context cx(waker.waker());
  for (int i = 0; i < 3; ++i) {
    auto wait = tracker.wait();
    (void)wait.poll(cx);
    (void)poll_once(wait);
    tracker.close();
    tracker.reopen();
  }
  EXPECT_GT(waker.clones(), 0);
}

template <class Executor>
class TaskTrackerOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(TaskTrackerOn, HostedExecutors, ExecutorNames);

Async<void> work(std::atomic<int>& done, int yields) {
  for (int i = 0; i < yields; ++i) co_await yield_now();
  ++done;
}
Async<int> close_and_wait(TaskTracker tracker, std::atomic<int>& done) {
  tracker.close();
  co_await tracker.wait();
  co_return done.load();
}
TYPED_TEST(TaskTrackerOn, AllTasksHaveEndedWhenWaitCompletes) {
  const TaskTracker tracker;
  std::atomic<int> done{0};
  for (int i = 0; i < 20; ++i) this->executor.spawn(tracker.track_future(work(done, i)));
  EXPECT_EQ(this->executor.run(close_and_wait(tracker, done)), 20);
}

}  // namespace
