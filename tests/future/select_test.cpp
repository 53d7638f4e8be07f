#include "rouse/future/select.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

TEST(Select, TellsByItsIndexWhichFutureWasFirst) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = select(a.future(), b.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open(2);
  EXPECT_EQ(waker.wakes(), 1);
  auto output = future.poll(waker.cx).value();
  EXPECT_EQ(output.index(), 1U);
  EXPECT_EQ(std::get<1>(output), 2);
}

TEST(SelectBiased, PrefersTheFirstListedWhenSeveralAreReady) {
  CountingWaker waker;
  Gate<int> last;
  last.open(3);
  auto future = select_biased(pending_forever<int>(), ready(2), last.future());
  EXPECT_EQ(future.poll(waker.cx).value().index(), 1U);
  EXPECT_EQ(last.polls(), 0);
}

TEST(Select, TakesEachOfThoseThatAreAlwaysReadyAboutAsOften) {
  CountingWaker waker;
  std::array<int, 3> wins{};
  for (int round = 0; round < 3000; ++round) {
    ++wins[select(ready(1), ready(2), ready(3)).poll(waker.cx).value().index()];
  }
  for (const int count : wins) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1200);
  }
}

// With a counter instead of a random number each of the two would take the same branch for ever.
TEST(Select, TwoInOneLoopDoNotKeepStep) {
  CountingWaker waker;
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  for (int round = 0; round < 2000; ++round) {
    ++first[select(ready(1), ready(2)).poll(waker.cx).value().index()];
    ++second[select(ready(1), ready(2)).poll(waker.cx).value().index()];
  }
  EXPECT_GT(std::min(first[0], first[1]), 800);
  EXPECT_GT(std::min(second[0], second[1]), 800);
}

TEST(Select, PollsEveryBranchInEachPollThatFindsNoneReady) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  Gate<int> c;
  auto future = select(a.future(), b.future(), c.future());
  for (int polls = 1; polls <= 50; ++polls) {
    EXPECT_TRUE(future.poll(waker.cx).is_pending());
    EXPECT_EQ(a.polls(), polls);
    EXPECT_EQ(b.polls(), polls);
    EXPECT_EQ(c.polls(), polls);
  }
}

TEST(Select, DropsTheOthersBeforeTheValueIsHandedOut) {
  CountingWaker waker;
  Gate<int> winner;
  Gate<int> loser;
  auto future = select(loser.future(), winner.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  winner.open(1);
  auto poll = future.poll(waker.cx);
  EXPECT_TRUE(poll.is_ready());
  EXPECT_EQ(winner.alive(), 0);
  EXPECT_EQ(loser.alive(), 0);
  loser.open(2);
}

TEST(Select, HoldsVoidMoveOnlyAndReferenceOutputs) {
  CountingWaker waker;
  Gate<int&> reference;
  auto future = select(pending_forever(), ready(std::make_unique<int>(5)), reference.future());
  static_assert(
      std::is_same_v<decltype(future)::Output, std::variant<Unit, std::unique_ptr<int>, int*>>);
  EXPECT_EQ(*std::get<1>(future.poll(waker.cx).value()), 5);
}

TEST(Select, ThrowsTheExceptionOfTheFirstToFinishAndDropsTheOthers) {
  CountingWaker waker;
  Gate<int> a;
  Gate<int> b;
  auto future = select(a.future(), b.future());
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.fail("b");
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_EQ(a.alive(), 0);
  EXPECT_EQ(b.alive(), 0);
}

Async<std::string> slow() {
  for (int i = 0; i < 10; ++i) co_await yield_now();
  co_return "slow";
}
Async<std::string> quick() {
  co_await yield_now();
  co_return "quick";
}
Async<std::string> first_of_two() {
  auto first = co_await select(slow(), quick());
  if (first.index() == 0) co_return std::get<0>(first);
  co_return std::get<1>(first);
}

TEST(Select, IsAwaitedByCoroutinesAndCancelsTheLoser) {
  CountingWaker waker;
  auto future = first_of_two();
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), "quick");
}

TEST(Select, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) {
    return select(gates[0].future(), gates[1].future(), gates[2].future());
  });
  check_contracts(2, [](Gates& gates) { return select(gates[1].future(), gates[0].future()); });
}

TEST(SelectDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = select(ready(1));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "select.* polled again");
}

TEST(SelectDeathTest, IsNotMovedAfterItsFirstPoll) {
  CountingWaker waker;
  auto future = select(pending_forever());
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(decltype(future)(std::move(future))),
               "moved after its first poll");
}

// --- Handlers. ---

TEST(SelectOn, CallsTheHandlerOfTheFirstWithItsOutput) {
  CountingWaker waker;
  Gate<int> a;
  Gate<std::string> b;
  auto future = select(on(a.future(), [](int n) { return std::to_string(n); }),
                       on(b.future(), [](std::string text) { return text + "!"; }));
  static_assert(std::is_same_v<decltype(future)::Output, std::string>);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  b.open("b");
  EXPECT_EQ(future.poll(waker.cx).value(), "b!");
}

TEST(SelectOn, AHandlerOfNothingTakesAndGivesNothing) {
  CountingWaker waker;
  int called = 0;
  auto future =
      select(on(pending_forever(), [&] { called = 1; }), on(ready(7), [&](int n) { called = n; }));
  static_assert(std::is_void_v<decltype(future)::Output>);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_EQ(called, 7);
}

TEST(SelectOn, HandlesReferencesAndWhatOnlyMoves) {
  CountingWaker waker;
  int value = 1;
  Gate<int&> reference;
  reference.open(&value);
  auto future = select_biased(
      on(reference.future(), [](int& n) -> int& { return ++n; }),
      on(ready(std::make_unique<int>(5)), [&](std::unique_ptr<int>) -> int& { return value; }));
  int& given = future.poll(waker.cx).value();
  EXPECT_EQ(&given, &value);
  EXPECT_EQ(value, 2);
}

TEST(SelectOn, TheFuturesAreGoneWhenTheHandlerRuns) {
  CountingWaker waker;
  Gate<int> winner;
  Gate<int> loser;
  int alive = -1;
  auto future = select(on(loser.future(), [](int) {}),
                       on(winner.future(), [&](int) { alive = winner.alive() + loser.alive(); }));
  winner.open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_ready());
  EXPECT_EQ(alive, 0);
}

// The closure is in the select, which outlives the coroutine: a capture is safe here.
TEST(SelectOn, AHandlerMayBeACoroutineBesideOneThatIsNone) {
  CountingWaker waker;
  Gate<int> first;
  Gate<int> second;
  Gate<int> inside;
  const std::string prefix = "handled ";
  auto future = select(on(first.future(), [prefix](int n) { return prefix + std::to_string(n); }),
                       on(second.future(), [prefix, &inside](int n) -> Async<std::string> {
                         const int more = co_await inside.future();
                         co_return prefix + std::to_string(n + more);
                       }));
  static_assert(std::is_same_v<decltype(future)::Output, std::string>);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  second.open(1);
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(first.alive(), 0);
  inside.open(2);
  EXPECT_EQ(future.poll(waker.cx).value(), "handled 3");
}

// The output lives as long as the handler's coroutine: it may take a reference.
TEST(SelectOn, ACoroutineHandlerMayTakeAReferenceToTheOutput) {
  CountingWaker waker;
  const std::string text(100, 'x');
  auto future = select(on(ready(text), [](const std::string& output) -> Async<std::string> {
    co_await yield_now();
    co_return output;
  }));
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_EQ(future.poll(waker.cx).value(), text);
}

TEST(SelectOnDeathTest, IsNotPolledAgainAfterAHandlerThrewInsteadOfGivingItsFuture) {
  CountingWaker waker;
  auto future = select(on(ready(1), [](int n) -> Async<> {
    if (n == 1) throw TestError("no coroutine");
    return []() -> Async<> { co_return; }();
  }));
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_FALSE(future.borrows());
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "select.* polled again");
}

TEST(SelectOn, IsDroppedWhileAHandlerRuns) {
  CountingWaker waker;
  Gate<> inside;
  {
    auto future = select(on(ready(1), [&](int) { return inside.future(); }));
    EXPECT_TRUE(future.poll(waker.cx).is_pending());
    EXPECT_EQ(inside.alive(), 1);
  }
  EXPECT_EQ(inside.alive(), 0);
}

TEST(SelectOn, ThrowsWhatTheFutureThrewWithoutCallingTheHandler) {
  CountingWaker waker;
  Gate<int> a;
  bool called = false;
  auto future = select(on(a.future(), [&](int) { called = true; }));
  a.fail("a");
  EXPECT_THROW(static_cast<void>(future.poll(waker.cx)), TestError);
  EXPECT_FALSE(called);
}

TEST(SelectOn, ThrowsWhatTheHandlerThrows) {
  CountingWaker waker;
  auto plain = select(on(ready(1), [](int) { throw TestError("plain"); }));
  EXPECT_THROW(static_cast<void>(plain.poll(waker.cx)), TestError);
  auto coroutine = select(on(ready(1), [](int) -> Async<> {
    co_await yield_now();
    throw TestError("coroutine");
  }));
  EXPECT_TRUE(coroutine.poll(waker.cx).is_pending());
  EXPECT_THROW(static_cast<void>(coroutine.poll(waker.cx)), TestError);
}

TEST(SelectOn, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) {
    return select(on(gates[0].future(), [](int n) { return n; }),
                  on(gates[1].future(), [&gates](int) { return gates[2].future(); }));
  });
}

TEST(SelectOnDeathTest, IsNotPolledAgain) {
  CountingWaker waker;
  auto future = select(on(ready(1), [](int) {}));
  static_cast<void>(future.poll(waker.cx));
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "select.* polled again");
}

// --- by_ref. ---

TEST(ByRef, AFutureSurvivesTheRoundsOfALoop) {
  CountingWaker waker;
  Gate<int> kept;
  auto future = kept.future();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(select_biased(by_ref(future), ready(1)).poll(waker.cx).value().index(), 1U);
    EXPECT_EQ(kept.alive(), 1);
  }
  kept.open(9);
  EXPECT_EQ(std::get<0>(select(by_ref(future), pending_forever()).poll(waker.cx).value()), 9);
}

TEST(ByRef, Borrows) {
  auto future = pending_forever();
  EXPECT_TRUE(by_ref(future).borrows());
  EXPECT_TRUE(select(by_ref(future), pending_forever()).borrows());
  EXPECT_TRUE(select(on(by_ref(future), [] {})).borrows());
  EXPECT_FALSE(select(on(pending_forever(), [] {})).borrows());
}

}  // namespace
}  // namespace rouse::test
