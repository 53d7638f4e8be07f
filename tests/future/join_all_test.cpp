#include "rouse/future/join_all.hpp"

#include <array>
#include <forward_list>
#include <memory>
#include <random>
#include <ranges>
#include <string>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

template <class T>
std::vector<typename Gate<T>::Wait> futures_of(std::vector<Gate<T>>& gates) {
  std::vector<typename Gate<T>::Wait> futures;
  futures.reserve(gates.size());
  for (Gate<T>& gate : gates) futures.push_back(gate.future());
  return futures;
}

TEST(JoinAll, PollsNoChildInVainOnceTheBudgetIsUsedUp) {
  int polls = 0;
  std::vector<TakesAStep> children;
  for (int i = 0; i < 100; ++i) children.emplace_back(polls);
  auto future = join_all(std::move(children));
  const CountingWaker waker;
  for (int turn = 1; turn < 10; ++turn) {
    Context cx(waker.waker(), 10);
    ASSERT_TRUE(future.poll(cx).is_pending());
    ASSERT_EQ(waker.wakes(), turn);
    ASSERT_EQ(polls, 10 * turn);
  }
  Context cx(waker.waker(), 10);
  EXPECT_EQ(future.poll(cx).value(), std::vector<int>(100, 1));
  EXPECT_EQ(polls, 100);
}

TEST(JoinAll, KeepsOutputsInTheOrderOfTheRange) {
  CountingWaker waker;
  Gates gates(3);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  for (std::size_t i : {2U, 0U, 1U}) {
    gates[i].open(static_cast<int>(10 * i));
    if (i != 1) {
      EXPECT_TRUE(future.poll(waker.cx).is_pending());
    }
  }
  EXPECT_EQ(waker.wakes(), 3);
  EXPECT_EQ(future.poll(waker.cx).value(), (std::vector{0, 10, 20}));
}

TEST(JoinAll, PollsOnlyTheChildrenThatWereWoken) {
  constexpr int count = 10'000;
  CountingWaker waker;
  Gates gates(count);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());

  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    gates[random() % count].wake();
    EXPECT_TRUE(future.poll(waker.cx).is_pending());
  }
  EXPECT_EQ(waker.wakes(), count);
  for (Gate<int>& gate : gates) {
    gate.open(1);
    static_cast<void>(&gate == &gates.back() || future.poll(waker.cx).is_ready());
  }
  EXPECT_EQ(future.poll(waker.cx).value().size(), std::size_t{count});

  int polls = 0;
  for (Gate<int>& gate : gates) polls += gate.polls();
  EXPECT_EQ(polls, count + 2 * count) << "children + wakes";
}

TEST(JoinAll, PollsAChildOnceHoweverOftenItWasWoken) {
  CountingWaker waker;
  Gates gates(2);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  for (int i = 0; i < 5; ++i) gates[0].wake();
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(gates[0].polls(), 2);
  EXPECT_EQ(gates[1].polls(), 1);
}

TEST(JoinAll, OfVoidFuturesIsVoid) {
  CountingWaker waker;
  std::vector<Gate<void>> gates(2);
  auto future = join_all(futures_of(gates));
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  for (auto& gate : gates) gate.open();
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
}

TEST(JoinAll, OfNothingIsReadyAtOnce) {
  CountingWaker waker;
  EXPECT_TRUE(join_all(std::vector<Ready<int>>()).poll(waker.cx).value().empty());
}

TEST(JoinAll, TakesContainersViewsAndRangesThatDoNotKnowTheirSize) {
  CountingWaker waker;
  const std::array copied{ready(1), ready(2)};
  EXPECT_EQ(join_all(copied).poll(waker.cx).value(), (std::vector{1, 2}));
  auto made = std::views::iota(0, 4) | std::views::transform([](int i) { return ready(i); });
  EXPECT_EQ(join_all(made).poll(waker.cx).value(), (std::vector{0, 1, 2, 3}));
  std::forward_list<Ready<bool>> list;
  list.push_front(ready(true));
  EXPECT_EQ(join_all(std::move(list)).poll(waker.cx).value(), std::vector<bool>{true});
}

TEST(JoinAll, WaitsForEveryChildBeforeRethrowingTheFirstException) {
  CountingWaker waker;
  Gates gates(3);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  gates[2].fail("2 was first");
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  gates[0].fail("0 was second");
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  gates[1].open(1);
  try {
    static_cast<void>(future.poll(waker.cx));
    FAIL() << "nothing was thrown";
  } catch (const TestError& error) {
    EXPECT_STREQ(error.what(), "2 was first");
  }
}

TEST(JoinAll, DestroysAChildAsSoonAsItIsReadyAndIgnoresItsLateWakes) {
  CountingWaker waker;
  Gates gates(2);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  gates[0].open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(gates[0].alive(), 0);
  const int wakes = waker.wakes();
  gates[0].wake_all_kept();
  EXPECT_EQ(waker.wakes(), wakes);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
}

TEST(JoinAll, MayBeMovedWhileItRuns) {
  CountingWaker waker;
  Gates gates(2);
  auto future = join_all(futures_of(gates));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  auto moved = std::move(future);
  for (auto& gate : gates) gate.open(1);
  EXPECT_EQ(moved.poll(waker.cx).value().size(), 2U);
}

Async<std::unique_ptr<int>> delayed_pointer(int x) {
  for (int i = 0; i < x; ++i) co_await yield_now();
  co_return std::make_unique<int>(x);
}
Async<int> total() {
  std::vector<AnyFuture<std::unique_ptr<int>>> futures;
  futures.reserve(5);
  for (int i = 0; i < 5; ++i) futures.push_back(delayed_pointer(i));
  int sum = 0;
  auto outputs = co_await join_all(std::move(futures));
  for (auto& output : outputs) sum += *output;
  co_return sum;
}

TEST(JoinAll, RunsCoroutinesThatYield) {
  CountingWaker waker;
  auto future = total();
  for (int polls = 1; polls <= 4; ++polls) {
    EXPECT_TRUE(future.poll(waker.cx).is_pending());
    EXPECT_EQ(waker.wakes(), polls) << "children that wake themselves wake the parent, once";
  }
  EXPECT_EQ(future.poll(waker.cx).value(), 10);
}

TEST(JoinAll, LetsGoOfTheParentsWakerWhenItEnds) {
  auto counter = make_ref<WakeCounter>();
  Gates gates(1);
  {
    const Waker waker = make_waker(counter);
    Context cx(waker);
    auto future = join_all(futures_of(gates));
    EXPECT_TRUE(future.poll(cx).is_pending());
  }
  gates[0].wake();
  EXPECT_EQ(counter->count(), 0);
}

TEST(JoinAll, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) { return join_all(futures_of(gates)); });
}

TEST(JoinAllDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = join_all(std::vector<Ready<int>>());
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "join_all.* polled again");
}

}  // namespace
}  // namespace rouse::test
