#include "rouse/core/any_future.hpp"

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::Life;
using test::Lives;
using test::poll_once;
using test::ReadyAfter;

Async<int> give(int x) { co_return x; }
Async<> hold(Life life, testing::Gate<>& gate) {
  const Life local(life);
  co_await gate.wait();
}

struct ListOfFutures {
  explicit ListOfFutures(Lives& lives) : life(lives) {}
  Life life;
  std::optional<AnyFuture<>> next;
};
Async<> owns(std::unique_ptr<ListOfFutures>) { co_return; }

TEST(AnyFuture, MayBeAssignedOneThatIsInsideOfItself) {
  Lives lives;
  {
    auto outer = std::make_unique<ListOfFutures>(lives);
    outer->next = owns(std::make_unique<ListOfFutures>(lives));
    std::optional<AnyFuture<>>& next = outer->next;
    AnyFuture<> future = owns(std::move(outer));
    future = std::move(*next);
    EXPECT_EQ(lives.alive(), 1);
    EXPECT_TRUE(poll_once(future).is_ready());
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(AnyFuture, HoldsDifferentFuturesOfOneOutput) {
  std::vector<AnyFuture<int>> futures;
  futures.emplace_back(give(1));
  futures.emplace_back(ReadyAfter<int>(0, 2));
  futures.emplace_back(AnyFuture<int>(give(3)));
  int sum = 0;
  for (AnyFuture<int>& future : futures) sum += poll_once(future).value();
  EXPECT_EQ(sum, 6);
}

TEST(AnyFuture, IsPendingAndReadyAsTheFutureInside) {
  testing::PollHarness<AnyFuture<std::string>> h(ReadyAfter<std::string>(2, "done"));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_EQ(h.poll().value(), "done");
}

TEST(AnyFuture, OfVoidAndOfReferencesWorks) {
  int x = 1;
  AnyFuture<> nothing = test::PendingOnce();
  EXPECT_TRUE(poll_once(nothing).is_pending());
  EXPECT_TRUE(poll_once(nothing).is_ready());

  const auto refer = [](int& target) -> Async<int&> { co_return target; };
  AnyFuture<int&> reference = refer(x);
  EXPECT_EQ(&poll_once(reference).value(), &x);
}

TEST(AnyFuture, TakesAnAsyncOverWithoutAllocation) {
  Async<int> async = give(4);
  const std::size_t before = block_pool_bytes();
  AnyFuture<int> any = std::move(async);
  EXPECT_EQ(poll_once(any).value(), 4);
  EXPECT_EQ(block_pool_bytes(), before);
  EXPECT_STREQ(async.name(), "(moved from or awaited)");  // NOLINT(bugprone-use-after-move)
}

TEST(AnyFuture, DestroysTheFutureInsideOnce) {
  Lives lives;
  testing::Gate<> gate;
  {
    AnyFuture<> future = hold(Life(lives), gate);
    EXPECT_TRUE(poll_once(future).is_pending());
    EXPECT_GT(lives.alive(), 0);
  }
  EXPECT_EQ(lives.alive(), 0);
}

/// Two awaits, the first of the two inside of a callee.
Async<> hold_twice(Life life, testing::Gate<>& first, testing::Gate<>& second) {
  co_await hold(life, first);
  const auto heap = std::make_unique<Life>(life);
  co_await second.wait();
}

/// The same by hand.
class HoldTwice {
 public:
  using Output = void;
  HoldTwice(Life life, testing::Gate<>& first, testing::Gate<>& second)
      : life_(std::move(life)), first_(first.wait()), second_(second.wait()) {}

  Poll<void> poll(Context& cx) {
    if (!heap_) {
      if (first_.poll(cx).is_pending()) return pending;
      heap_ = std::make_unique<Life>(life_);
    }
    return second_.poll(cx);
  }

 private:
  Life life_;
  std::unique_ptr<Life> heap_;
  testing::Gate<>::Wait first_;
  testing::Gate<>::Wait second_;
};

/// Destroys an AnyFuture of `make(life, first gate, second gate)` after each of its polls.
template <class Make>
void expect_nothing_left_at_any_poll(Make make) {
  Lives lives;
  std::unique_ptr<testing::Gate<>> first;
  std::unique_ptr<testing::Gate<>> second;
  const auto report = testing::drop_at_each_poll(
      [&] {
        first = std::make_unique<testing::Gate<>>();
        second = std::make_unique<testing::Gate<>>();
        return AnyFuture<>(make(Life(lives), *first, *second));
      },
      [&](std::size_t k) { (k == 1 ? first : second)->open(); },
      [&](std::size_t) { EXPECT_EQ(lives.alive(), 0); });
  EXPECT_EQ(report.polls, 3u);
  EXPECT_EQ(report.wakers_left, 0u);
  EXPECT_FALSE(report.threw);
  EXPECT_GT(lives.made, 0);
}

TEST(AnyFuture, OfAnAsyncLeavesNothingBehindAtWhicheverPollItIsDropped) {
  expect_nothing_left_at_any_poll(hold_twice);
}

TEST(AnyFuture, OfAFutureByHandLeavesNothingBehindAtWhicheverPollItIsDropped) {
  expect_nothing_left_at_any_poll([](Life life, testing::Gate<>& first, testing::Gate<>& second) {
    return HoldTwice(std::move(life), first, second);
  });
}

class LargeFuture {
 public:
  using Output = int;
  explicit LargeFuture(Lives& lives) : life_(lives) { numbers_.fill(7); }
  Poll<int> poll(Context&) { return Poll<int>::ready(numbers_[999]); }

 private:
  Life life_;
  std::array<int, 1000> numbers_;
};

TEST(AnyFuture, OwnsALargeFutureOnTheHeap) {
  Lives lives;
  {
    AnyFuture<int> future = LargeFuture(lives);
    AnyFuture<int> moved = std::move(future);
    EXPECT_EQ(lives.alive(), 1);  // moving moves the pointer
    EXPECT_EQ(poll_once(moved).value(), 7);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(AnyFuture, MoveAssignmentDestroysTheOldFuture) {
  Lives old_lives;
  Lives new_lives;
  [[maybe_unused]] AnyFuture<int> future = LargeFuture(old_lives);
  future = LargeFuture(new_lives);
  EXPECT_EQ(old_lives.alive(), 0);
  EXPECT_EQ(new_lives.alive(), 1);
}

TEST(AnyFuture, AFutureWhoseMoveThrowsLeavesNothingBehind) {
  Lives lives;
  class ThrowsOnMove {
   public:
    using Output = int;
    explicit ThrowsOnMove(Lives& counted) : life_(counted) {}
    ThrowsOnMove(ThrowsOnMove&& other) : life_(other.life_) { throw std::runtime_error("move"); }
    Poll<int> poll(Context&) { return pending; }

   private:
    Life life_;
  };
  EXPECT_THROW([[maybe_unused]] const AnyFuture<int> never{ThrowsOnMove(lives)},
               std::runtime_error);
  EXPECT_EQ(lives.alive(), 0);  // and no leak: AddressSanitizer sees it
}

TEST(AnyFuture, ThrowsWhatTheFutureInsideThrows) {
  AnyFuture<int> future = test::ThrowsAt(2);
  EXPECT_TRUE(poll_once(future).is_pending());
  EXPECT_THROW((void)poll_once(future), std::runtime_error);
}

TEST(AnyFuture, IsMoveOnlyAndAFuture) {
  static_assert(Future<AnyFuture<int>>);
  static_assert(Future<AnyFuture<>>);
  static_assert(!std::is_copy_constructible_v<AnyFuture<int>>);
  static_assert(std::is_nothrow_move_constructible_v<AnyFuture<int>>);
  static_assert(!std::is_constructible_v<AnyFuture<int>, Async<std::string>>);
}

Async<int> sum_of(AnyFuture<int> a, AnyFuture<int> b) {
  const int x = co_await a;
  const int y = co_await std::move(b);
  co_return x + y;
}

TEST(AnyFuture, CanBeAwaited) {
  testing::PollHarness h(sum_of(ReadyAfter<int>(1, 2), give(40)));
  EXPECT_EQ(h.poll_until_ready(2).value(), 42);
}

/// A recursion whose depth is known at run time only: what AnyFuture as a return type is for.
AnyFuture<int> depth(int n) {
  if (n == 0) return ReadyAfter<int>(1, 0);
  const auto deeper = [](int m) -> Async<int> { co_return 1 + co_await depth(m); };
  return deeper(n - 1);
}

TEST(AnyFuture, NestsAsFarAsNeeded) {
  testing::PollHarness h(depth(50));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_EQ(h.poll().value(), 50);
}

TEST(AnyFutureDeathTest, PollingAMovedFromOneIsRefused) {
  AnyFuture<int> future = give(1);
  [[maybe_unused]] const AnyFuture<int> moved = std::move(future);
  EXPECT_DEATH((void)poll_once(future),  // NOLINT(bugprone-use-after-move)
               "poll\\(\\) of an AnyFuture that was moved from");
}

}  // namespace
}  // namespace rouse
