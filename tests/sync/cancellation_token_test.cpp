#include "rouse/sync/cancellation_token.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::CancellationToken;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(CancellationToken) == sizeof(void*));
static_assert(sizeof(CancellationToken::Cancelled) == 48);

TEST(CancellationToken, CancelWakesWhoWaits) {
  const CancellationToken token;
  PollHarness first(token.cancelled());
  PollHarness second(token.cancelled());
  EXPECT_TRUE(first.poll().is_pending() && first.kept_waker());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_FALSE(token.is_cancelled());
  token.cancel();
  EXPECT_TRUE(token.is_cancelled());
  EXPECT_TRUE(first.is_woken() && first.poll().is_ready());
  EXPECT_TRUE(second.is_woken() && second.poll().is_ready());
  EXPECT_TRUE(PollHarness(token.cancelled()).poll().is_ready());
  token.cancel();
}

TEST(CancellationToken, CancelReachesAllBelowAndNothingAbove) {
  const CancellationToken root;
  const auto left = root.child();
  const auto right = root.child();
  const auto below_left = left.child();
  left.cancel();
  EXPECT_TRUE(left.is_cancelled() && below_left.is_cancelled());
  EXPECT_FALSE(root.is_cancelled() || right.is_cancelled());
  root.cancel();
  EXPECT_TRUE(right.is_cancelled());
}

TEST(CancellationToken, ACopyIsTheSameToken) {
  CancellationToken token;
  const auto copy = token;
  const auto below = copy.child();
  {
    const auto gone = std::move(token);
  }
  copy.cancel();
  EXPECT_TRUE(below.is_cancelled());
}

TEST(CancellationToken, AChildOfACancelledTokenIsCancelled) {
  const CancellationToken token;
  token.cancel();
  EXPECT_TRUE(token.child().is_cancelled());
  EXPECT_TRUE(token.child().child().is_cancelled());
}

TEST(CancellationToken, DroppingTokensCancelsNothingAndKeepsTheRestConnected) {
  const CancellationToken root;
  std::optional<CancellationToken> middle(root.child());
  std::vector<CancellationToken> below;
  for (int i = 0; i < 3; ++i) below.push_back(middle->child());
  std::optional<CancellationToken> lone(below[0].child());
  const auto below_lone = lone->child();
  middle.reset();
  lone.reset();
  below.erase(below.begin() + 1);
  EXPECT_FALSE(root.is_cancelled());
  for (const auto& token : below) EXPECT_FALSE(token.is_cancelled());
  root.cancel();
  for (const auto& token : below) EXPECT_TRUE(token.is_cancelled());
  EXPECT_TRUE(below_lone.is_cancelled());
}

TEST(CancellationToken, AForestIsLeftWhenTheRootGoes) {
  std::optional<CancellationToken> root(std::in_place);
  const auto left = root->child();
  const auto right = root->child();
  root.reset();
  left.cancel();
  EXPECT_TRUE(left.is_cancelled());
  EXPECT_FALSE(right.is_cancelled());
}

TEST(CancellationToken, AChainOf100000IsCancelledAndFreedWithoutRecursion) {
  constexpr int depth = 100'000;
  for (const bool drop_in_between : {false, true}) {
    std::vector<CancellationToken> chain(1);
    for (int i = 0; i < depth; ++i) chain.push_back(chain.back().child());
    const auto last = chain.back();
    const auto root = chain.front();
    if (drop_in_between) chain.clear();
    root.cancel();
    EXPECT_TRUE(last.is_cancelled());
    for (const auto& token : chain) ASSERT_TRUE(token.is_cancelled());
  }
  CancellationToken walked;
  for (int i = 0; i < depth; ++i) walked = walked.child();
  EXPECT_FALSE(walked.is_cancelled());
}

TEST(CancellationToken, AWideTreeIsCancelledWithAllWhoWait) {
  const CancellationToken root;
  std::vector<std::unique_ptr<PollHarness<CancellationToken::Cancelled>>> waits;
  for (int i = 0; i < 10'000; ++i) {
    const auto below = root.child();
    waits.push_back(std::make_unique<PollHarness<CancellationToken::Cancelled>>(
        (i % 2 == 0 ? below : below.child()).cancelled()));
    ASSERT_TRUE(waits.back()->poll().is_pending());
  }
  root.cancel();
  for (auto& wait : waits) ASSERT_TRUE(wait->is_woken() && wait->poll().is_ready());
}

TEST(CancellationToken, CancelledDroppedAtEachPollLeavesNoWaker) {
  CancellationToken token;
  const auto report = drop_at_each_poll([&] { return (token = CancellationToken()).cancelled(); },
                                        [&](std::size_t) { token.cancel(); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(CancellationToken, RunUntilCancelledGivesTheResult) {
  const CancellationToken token;
  auto run = token.run_until_cancelled(ready(7));
  EXPECT_EQ(poll_once(run).value(), 7);
  auto result = token.run_until_cancelled(ready(Result<int>(8)));  // without a warning
  EXPECT_EQ(poll_once(result).value().value().value(), 8);
  auto nothing = token.run_until_cancelled(ready());
  EXPECT_TRUE(poll_once(nothing).value());
}

TEST(CancellationToken, RunUntilCancelledDropsTheFutureThatIsTooLate) {
  const CancellationToken token;
  Lives lives;
  auto work = [](Life life) -> Async<int> {
    co_await pending_forever<>();
    (void)life;
    co_return 1;
  };
  PollHarness run(token.run_until_cancelled(work(Life(lives))));
  EXPECT_TRUE(run.poll().is_pending());
  EXPECT_EQ(lives.alive(), 1);
  token.cancel();
  EXPECT_TRUE(run.is_woken());
  EXPECT_EQ(run.poll().value(), std::nullopt);
  EXPECT_EQ(lives.alive(), 0);
}

TEST(CancellationToken, RunUntilCancelledThrowsWhatTheFutureThrows) {
  const CancellationToken token;
  auto run = token.run_until_cancelled(ThrowsAt(1));
  EXPECT_THROW((void)poll_once(run), std::runtime_error);
}

TEST(CancellationToken, ADropGuardCancelsUnlessDisarmed) {
  const CancellationToken token;
  {
    auto guard = token.drop_guard();
    guard.disarm();
  }
  EXPECT_FALSE(token.is_cancelled());
  {
    auto guard = token.drop_guard();
    const auto moved = std::move(guard);
    EXPECT_FALSE(token.is_cancelled());
  }
  EXPECT_TRUE(token.is_cancelled());
}

TEST(CancellationToken, TakesFromTheBudget) {
  const CancellationToken token;
  token.cancel();
  CountingWaker waker;
  Context none(waker.waker(), 0);
  EXPECT_TRUE(token.cancelled().poll(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
}

TEST(CancellationToken, AWakerThatReEntersCausesNoDeadlock) {
  const CancellationToken root;
  const auto token = root.child();
  std::vector<CancellationToken> made;
  bool cancel = false;
  ReentrantWaker waker([&] {
    made.push_back(token.child());
    if (cancel) root.cancel();
    (void)poll_once(*std::make_unique<CancellationToken::Cancelled>(token.cancelled()));
    if (made.size() % 2 == 0) made.clear();
  });
  Context cx(waker.waker());
  for (int i = 0; i < 3; ++i) {
    auto wait = token.cancelled();
    EXPECT_TRUE(wait.poll(cx).is_pending());
    EXPECT_TRUE(poll_once(wait).is_pending());
    EXPECT_TRUE(wait.poll(cx).is_pending());
  }
  auto wait = token.cancelled();
  EXPECT_TRUE(wait.poll(cx).is_pending());
  cancel = true;
  token.cancel();
  EXPECT_TRUE(root.is_cancelled());
  EXPECT_EQ(waker.wakes(), 1);
}

template <class Executor>
class CancellationTokenOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(CancellationTokenOn, HostedExecutors, ExecutorNames);

Async<void> work_until_cancelled(CancellationToken token, std::atomic<int>& ended) {
  const bool done = co_await token.run_until_cancelled(pending_forever<>());
  if (!done) ++ended;
}
Async<void> cancel_later(CancellationToken token) {
  co_await yield_now();
  token.cancel();
}
TYPED_TEST(CancellationTokenOn, EveryTaskBelowEnds) {
  std::atomic<int> ended{0};
  const CancellationToken root;
  for (int i = 0; i < 10; ++i) this->executor.spawn(work_until_cancelled(root.child(), ended));
  this->executor.run(cancel_later(root));
  EXPECT_EQ(ended, 10);
}

// Children are made and dropped while the root is cancelled: each is cancelled in the end.
TEST(CancellationTokenStress, ChildrenMadeDuringACancelAreCancelled) {
  const int rounds = sanitized ? 100 : 1000;
  for (int round = 0; round < rounds; ++round) {
    const CancellationToken root;
    std::atomic<bool> go{false};
    auto make = [&] {
      std::vector<CancellationToken> mine;
      while (!go) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) {
        mine.push_back(i % 3 == 0 || mine.empty() ? root.child() : mine.back().child());
        if (i % 4 == 3) mine.erase(mine.begin());
      }
      auto wait = mine.back().cancelled();
      block_on(wait);
      for (const auto& token : mine) {
        while (!token.is_cancelled()) std::this_thread::yield();
      }
    };
    std::thread first(make);
    std::thread second(make);
    go = true;
    std::this_thread::yield();
    root.cancel();
    first.join();
    second.join();
  }
}

}  // namespace
