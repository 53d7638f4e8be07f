#include "rouse/sync/once_cell.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"
#include "sync/executors.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::OnceCell;
using rouse::testing::CountingWaker;
using rouse::testing::drop_at_each_poll;
using rouse::testing::Gate;
using rouse::testing::PollHarness;

static_assert(sizeof(OnceCell<int>::GetOrInit<int (*)()>) == 56 + sizeof(int (*)()));

TEST(OnceCell, IsEmptyUntilItIsSet) {
  OnceCell<std::string> cell;
  EXPECT_EQ(cell.get(), nullptr);
  EXPECT_TRUE(cell.set("value"));
  ASSERT_NE(cell.get(), nullptr);
  EXPECT_EQ(*cell.get(), "value");
  auto other = std::make_unique<int>(1);
  OnceCell<std::unique_ptr<int>> owner;
  EXPECT_TRUE(owner.set(nullptr));
  EXPECT_FALSE(owner.set(std::move(other)));
  EXPECT_NE(other, nullptr) << "not touched";
}

TEST(OnceCell, TheFirstWhoAsksMakesTheValue) {
  OnceCell<int> cell;
  auto first = cell.get_or_init([] { return 1; });
  auto second = cell.get_or_init([] { return 2; });
  EXPECT_EQ(poll_once(second).value(), 2);
  EXPECT_EQ(&poll_once(first).value(), cell.get());
}

TEST(OnceCell, OthersWaitWhileTheValueIsMade) {
  OnceCell<int> cell;
  Gate<int> gate;
  int calls = 0;
  PollHarness first(cell.get_or_init([&] {
    ++calls;
    return gate.wait();
  }));
  PollHarness second(cell.get_or_init([&] {
    ++calls;
    return 9;
  }));
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending() && second.kept_waker());
  EXPECT_FALSE(cell.set(3));
  gate.open(5);
  EXPECT_EQ(first.poll().value(), 5);
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.poll().value(), 5);
  EXPECT_EQ(calls, 1);
}

TEST(OnceCell, IfTheInitializerIsDroppedAnotherRunsItsOwn) {
  OnceCell<int> cell;
  Gate<int> gate;
  auto wait = [&] { return gate.wait(); };
  std::optional<PollHarness<OnceCell<int>::GetOrInit<decltype(wait)>>> first(
      std::in_place, cell.get_or_init(wait));
  PollHarness second(cell.get_or_init([] { return 2; }));
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  first.reset();
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.poll().value(), 2);
}

TEST(OnceCell, IfTheInitializerThrowsAnotherRunsItsOwn) {
  OnceCell<int> cell;
  Gate<int> gate;
  PollHarness first(cell.get_or_init([&] { return gate.wait(); }));
  PollHarness second(cell.get_or_init([]() -> int { throw std::runtime_error("second"); }));
  PollHarness third(cell.get_or_init([] { return 3; }));
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(third.poll().is_pending());
  gate.fail(std::make_exception_ptr(std::runtime_error("first")));
  EXPECT_THROW((void)first.poll(), std::runtime_error);
  EXPECT_TRUE(second.is_woken());
  EXPECT_THROW((void)second.poll(), std::runtime_error);
  EXPECT_TRUE(third.is_woken());
  EXPECT_EQ(third.poll().value(), 3);
}

TEST(OnceCell, AValueThatThrowsWhenItIsMadeIsNotThere) {
  struct Throws {
    explicit Throws(bool now) {
      if (now) throw std::runtime_error("made");
    }
  };
  OnceCell<Throws> cell;
  EXPECT_THROW((void)cell.set(true), std::runtime_error);
  EXPECT_EQ(cell.get(), nullptr);
  EXPECT_TRUE(cell.set(false));
}

TEST(OnceCell, DroppedAtEachPollItStrandsNobody) {
  std::optional<OnceCell<int>> cell(std::in_place);
  Gate<int> gate;
  const auto report = drop_at_each_poll(
      [&] {
        cell.emplace();
        return cell->get_or_init([&] { return gate.wait(); });
      },
      [&](std::size_t) { gate.open(1); },
      [&](std::size_t k) {
        auto other = cell->get_or_init([] { return 2; });
        EXPECT_EQ(poll_once(other).value(), k == 2 ? 1 : 2);
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(OnceCell, TheValueEndsWithTheCell) {
  Lives lives;
  {
    OnceCell<Life> cell;
    EXPECT_TRUE(cell.set(Life(lives)));
    EXPECT_EQ(lives.alive(), 1);
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(OnceCell, TakesFromTheBudget) {
  OnceCell<int> cell;
  CountingWaker waker;
  Context none(waker.waker(), 0);
  auto get = cell.get_or_init([] { return 1; });
  EXPECT_TRUE(get.poll(none).is_pending());
  EXPECT_EQ(waker.count(), 1U);
}

TEST(OnceCell, AWakerThatReEntersCausesNoDeadlock) {
  OnceCell<int> cell;
  Gate<int> gate;
  ReentrantWaker waker([&] {
    (void)cell.get();
    auto other = cell.get_or_init([] { return 2; });
    (void)poll_once(other);
  });
  Context cx(waker.waker());
  {
    auto initializer = cell.get_or_init([&] { return gate.wait(); });
    (void)poll_once(initializer);
    {
      auto waits = cell.get_or_init([] { return 1; });
      EXPECT_TRUE(waits.poll(cx).is_pending());
      EXPECT_TRUE(poll_once(waits).is_pending());
      EXPECT_TRUE(waits.poll(cx).is_pending());
    }
    auto woken = cell.get_or_init([] { return 1; });
    EXPECT_TRUE(woken.poll(cx).is_pending());
    gate.open(7);
    EXPECT_EQ(poll_once(initializer).value(), 7);
  }
  EXPECT_GT(waker.wakes(), 0);
  EXPECT_GT(waker.drops(), 0);
}

template <class Executor>
class OnceCellOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(OnceCellOn, AllExecutors, ExecutorNames);

Async<int> make_value(std::atomic<int>& made) {
  co_await yield_now();
  co_return ++made;
}
Async<void> use(OnceCell<int>& cell, std::atomic<int>& made) {
  const auto init = [&] { return make_value(made); };
  const int& value = co_await cell.get_or_init(init);
  EXPECT_EQ(value, 1);
}
TYPED_TEST(OnceCellOn, TheValueIsMadeOnce) {
  for (int round = 0; round < 20; ++round) {
    OnceCell<int> cell;
    std::atomic<int> made{0};
    for (int i = 0; i < 3; ++i) this->executor.spawn(use(cell, made));
    this->executor.run(use(cell, made));
    EXPECT_EQ(made, 1);
    if (this->HasFailure()) return;
  }
}

}  // namespace
