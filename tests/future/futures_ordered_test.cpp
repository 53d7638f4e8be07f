#include "rouse/future/futures_ordered.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

template <class T = int>
using InOrder = FuturesOrdered<typename Gate<T>::Wait>;

TEST(FuturesOrdered, GivesOutputsInTheOrderOfThePushes) {
  CountingWaker waker;
  Gates gates(3);
  InOrder<> queue;
  for (auto& gate : gates) queue.push_back(gate.future());
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  gates[2].open(2);
  gates[1].open(1);
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  EXPECT_EQ(gates[2].alive(), 0) << "done, and waits for its turn as an output";
  EXPECT_EQ(queue.size(), 3U);
  gates[0].open(0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.poll_next(waker.cx).value(), i);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesOrdered, IsPushedToAndReadInTurns) {
  CountingWaker waker;
  FuturesOrdered<Ready<int>> queue;
  EXPECT_EQ(queue.poll_next(waker.cx).value(), std::nullopt);
  int pushed = 0;
  int read = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 5; ++i) queue.push_back(ready(pushed++));
    for (int i = 0; i < round % 3 && read < pushed; ++i) {
      EXPECT_EQ(queue.poll_next(waker.cx).value(), read++);
    }
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(pushed - read));
  }
  while (read < pushed) EXPECT_EQ(queue.poll_next(waker.cx).value(), read++);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesOrdered, PollsOnlyTheChildrenThatWereWoken) {
  CountingWaker waker;
  Gates gates(100);
  InOrder<> queue;
  for (auto& gate : gates) queue.push_back(gate.future());
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  gates[50].open(0);
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  EXPECT_EQ(gates[49].polls(), 1);
  EXPECT_EQ(gates[50].polls(), 2);
}

TEST(FuturesOrdered, ThrowsInItsTurnWhatAChildThrewAndGoesOn) {
  CountingWaker waker;
  Gates gates(3);
  InOrder<> queue;
  for (auto& gate : gates) queue.push_back(gate.future());
  gates[1].fail("second");
  gates[2].open(2);
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  gates[0].open(0);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), 0);
  EXPECT_THROW((void)queue.poll_next(waker.cx), TestError);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), 2);
}

TEST(FuturesOrdered, APushWakesWhoWaits) {
  CountingWaker waker;
  Gates gates(1);
  FuturesOrdered<AnyFuture<int>> queue;
  queue.push_back(gates[0].future());
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  const int before = waker.wakes();
  queue.push_back(ready(2));
  EXPECT_GT(waker.wakes(), before);
}

TEST(FuturesOrdered, IsMovedWhileItsChildrenRun) {
  CountingWaker waker;
  Gates gates(2);
  InOrder<> queue;
  for (auto& gate : gates) queue.push_back(gate.future());
  gates[0].open(0);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), 0);
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  InOrder<> moved(std::move(queue));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.poll_next(waker.cx).value(), std::nullopt);
  const int before = waker.wakes();
  gates[1].open(1);
  EXPECT_GT(waker.wakes(), before);
  EXPECT_EQ(moved.poll_next(waker.cx).value(), 1);
}

TEST(FuturesOrdered, GivesWhatCanOnlyBeMovedAndUnitsForVoid) {
  CountingWaker waker;
  FuturesOrdered<Ready<std::unique_ptr<int>>> boxes;
  boxes.push_back(ready(std::make_unique<int>(4)));
  EXPECT_EQ(**boxes.poll_next(waker.cx).value(), 4);
  FuturesOrdered<Ready<>> nothing;
  nothing.push_back(ready());
  EXPECT_EQ(nothing.poll_next(waker.cx).value(), Unit());
}

TEST(FuturesOrdered, ClearDropsAllAndWakesWhoWaits) {
  CountingWaker waker;
  Gates gates(2);
  InOrder<> queue;
  for (auto& gate : gates) queue.push_back(gate.future());
  gates[1].open(1);
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  const int before = waker.wakes();
  queue.clear();
  EXPECT_GT(waker.wakes(), before);
  EXPECT_EQ(gates[0].alive(), 0);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), std::nullopt);
  queue.push_back(gates[1].future());
  EXPECT_EQ(queue.size(), 1U);
}

/// Calls a function when it is dropped.
class WhenDropped {
 public:
  using Output = int;
  explicit WhenDropped(std::function<void()> call) : call_(std::move(call)) {}
  WhenDropped(WhenDropped&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  ~WhenDropped() {
    if (call_) call_();
  }
  static Poll<int> poll(Context&) { return pending; }

 private:
  std::function<void()> call_;
};

TEST(FuturesOrdered, AChildsDestructorMayPushDuringAClear) {
  CountingWaker waker;
  FuturesOrdered<AnyFuture<int>> queue;
  queue.push_back(WhenDropped([&] { queue.push_back(ready(7)); }));
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  queue.clear();
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), 7);
}

/// Ready at its second poll; calls a function when it is dropped.
class EndsThenCalls {
 public:
  using Output = int;
  explicit EndsThenCalls(std::function<void()> call) : call_(std::move(call)) {}
  EndsThenCalls(EndsThenCalls&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  ~EndsThenCalls() {
    if (call_) call_();
  }
  Poll<int> poll(Context& cx) {
    if (std::exchange(polled_, true)) return Poll<int>::ready(1);
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  std::function<void()> call_;
  bool polled_ = false;
};

TEST(FuturesOrdered, AChildsDestructorMayClearItDuringAPoll) {
  CountingWaker waker;
  FuturesOrdered<AnyFuture<int>> queue;
  queue.push_back(EndsThenCalls([&] { queue.clear(); }));
  queue.push_back(pending_forever<int>());
  EXPECT_TRUE(queue.poll_next(waker.cx).is_pending());
  auto polled = queue.poll_next(waker.cx);
  EXPECT_TRUE(polled.is_ready());
  EXPECT_TRUE(queue.empty());
}

TEST(FuturesOrdered, IsReplacedByAnother) {
  CountingWaker waker;
  Gates gates(2);
  InOrder<> queue;
  queue.push_back(gates[0].future());
  InOrder<> other;
  other.push_back(gates[1].future());
  queue = std::move(other);
  EXPECT_EQ(gates[0].alive(), 0);
  EXPECT_EQ(queue.size(), 1U);
  gates[1].open(5);
  EXPECT_EQ(queue.poll_next(waker.cx).value(), 5);
}

TEST(FuturesOrdered, BorrowsIfAChildDoes) {
  int x = 0;
  FuturesOrdered<Async<int>> queue;
  const auto owns = [](int y) -> Async<int> { co_return y; };
  const auto lends = [](int& y) -> Async<int> { co_return y; };
  queue.push_back(owns(1));
  EXPECT_FALSE(queue.borrows());
  queue.push_back(lends(x));
  EXPECT_TRUE(queue.borrows());
  EXPECT_TRUE(queue.next().borrows());
}

/// Sums what comes, as a future: for the contracts.
Async<int> sum_in_order(InOrder<> queue) {
  int sum = 0;
  while (auto value = co_await queue.next()) sum = 10 * sum + *value;
  co_return sum;
}

TEST(FuturesOrdered, KeepsTheContractsOfFutures) {
  const auto make = [](Gates& gates) {
    InOrder<> queue;
    for (auto& gate : gates) queue.push_back(gate.future());
    return sum_in_order(std::move(queue));
  };
  Contracts(3, make).check();
}

}  // namespace
}  // namespace rouse::test
