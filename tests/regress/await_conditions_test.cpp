// Awaits that GCC 12.2 gets wrong where they stand, with -O0 as with -O2, and how to write them.
//
// (1) In the condition of an if, a loop or a switch, in a coroutine whose body declares nothing:
//
//       Async<void> f() { if (co_await g()) h(); }
//
//     Nothing of the body is run: it neither suspends nor ends, and would look as if it waited for
//     ever. So the poll of a chain notices and stops the program with a hint. It does not matter
//     whether what is awaited is a temporary. Any declaration helps, also one inside of the if, a
//     `using`, or `if (const bool go = co_await g(); go)`.
//
// (2) A member of an await's result, in a template, if what is awaited has a type that depends on
//     its parameters, or is a structured binding:
//
//       auto [tx, rx] = sync::oneshot<T>();  ...  co_return (co_await rx).value_or(0);
//
//     "insufficient contextual information to determine type": it does not compile.
//
// Each has a safe form below; both compilers run it.
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::PendingOnce;
using testing::PollHarness;

Async<bool> counts_down(int& left) {
  co_await PendingOnce();
  co_return left-- > 0;
}

Async<void> named_before_if(int& left, int& calls) {
  const bool go = co_await counts_down(left);
  if (go) ++calls;
}
Async<void> declared_in_if(int& left, int& calls) {
  if (const bool go = co_await counts_down(left); go) ++calls;
}
Async<void> named_in_loop(int& left, int& calls) {
  for (;;) {
    const bool more = co_await counts_down(left);
    if (!more) break;
    ++calls;
  }
}
Async<void> named_child_in_condition(int& left, int& calls) {
  auto child = counts_down(left);
  if (co_await child) ++calls;
}

/// Runs it to its end: how often it called, of `left` times.
template <class Coroutine>
int calls_of(Coroutine coroutine, int left) {
  int calls = 0;
  PollHarness harness(coroutine(left, calls));
  EXPECT_TRUE(harness.poll().is_pending());
  EXPECT_TRUE(harness.kept_waker());
  EXPECT_TRUE(harness.poll_until_ready(10).is_ready());
  return calls;
}

TEST(AwaitConditions, NamedBeforeTheIf) {
  EXPECT_EQ(calls_of(named_before_if, 1), 1);
  EXPECT_EQ(calls_of(named_before_if, 0), 0);
}

TEST(AwaitConditions, DeclaredInTheIf) {
  EXPECT_EQ(calls_of(declared_in_if, 1), 1);
  EXPECT_EQ(calls_of(declared_in_if, 0), 0);
}

TEST(AwaitConditions, NamedInTheLoop) {
  EXPECT_EQ(calls_of(named_in_loop, 3), 3);
  EXPECT_EQ(calls_of(named_in_loop, 0), 0);
}

TEST(AwaitConditions, ANamedChildInTheCondition) {
  EXPECT_EQ(calls_of(named_child_in_condition, 1), 1);
  EXPECT_EQ(calls_of(named_child_in_condition, 0), 0);
}

template <class T>
Async<std::optional<T>> gives(T value) {
  co_await PendingOnce();
  co_return value;
}
template <class T>
Async<T> value_of_binding(T value) {
  auto [first, second] = std::pair(gives(value), gives(value));
  auto a = co_await first;
  auto b = co_await second;
  co_return a.value_or(0) + b.value_or(0);
}

TEST(AwaitConditions, InATemplateTheResultIsNamedBeforeItsMembersAreUsed) {
  PollHarness harness(value_of_binding(4));
  EXPECT_EQ(harness.poll_until_ready(3).value(), 8);
}

Async<int> in_the_condition() {
  if (co_await PendingOnce(), true) co_return 1;
  co_return 2;
}
#if defined(__clang__) || __GNUC__ != 12
TEST(AwaitConditions, OtherCompilersRunIt) {
  EXPECT_EQ(PollHarness(in_the_condition()).poll_until_ready(3).value(), 1);
}
#else
TEST(AwaitConditionsDeathTest, WhatGcc12MakesOfItStopsTheProgramWithAHint) {
  EXPECT_DEATH((void)PollHarness(in_the_condition()).poll(), "await into a variable first");
}
#endif

}  // namespace
}  // namespace rouse
