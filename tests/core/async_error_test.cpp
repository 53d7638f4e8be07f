// Async: exceptions, from wherever they may come.
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::Life;
using test::Lives;
using test::Note;
using test::poll_once;
using test::ThrowsAt;
using testing::PollHarness;

enum class Where { before_await, after_ready, after_suspend, in_child, in_suspended_child };

Async<int> throw_in_child(bool suspend, Life life) {
  const Life local(life);
  if (suspend) co_await test::PendingOnce();
  throw std::runtime_error("child");
}

Async<int> throw_at(Where where, Life life) {
  const Life local(life);
  if (where == Where::before_await) throw std::runtime_error("before");
  (void)co_await test::ReadyAfter<int>(0, 1);
  if (where == Where::after_ready) throw std::runtime_error("after ready");
  co_await test::PendingOnce();
  if (where == Where::after_suspend) throw std::runtime_error("after suspend");
  if (where == Where::in_child) co_return co_await throw_in_child(false, life);
  co_return co_await throw_in_child(true, life);
}

class AsyncThrows : public ::testing::TestWithParam<Where> {};

TEST_P(AsyncThrows, TheExceptionLeavesPollAndNothingLeaks) {
  Lives lives;
  {
    PollHarness h(throw_at(GetParam(), Life(lives)));
    EXPECT_THROW((void)h.poll_until_ready(10), std::runtime_error);
    EXPECT_LE(h.polls(), 3u);
  }
  EXPECT_GT(lives.made, 0);
  EXPECT_EQ(lives.alive(), 0);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, AsyncThrows,
                         ::testing::Values(Where::before_await, Where::after_ready,
                                           Where::after_suspend, Where::in_child,
                                           Where::in_suspended_child));

Async<std::string> caught_from(Where where, Life life) {
  std::string what;
  try {
    (void)co_await throw_at(where, life);
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  co_await test::PendingOnce();  // and the coroutine goes on
  co_return what;
}

TEST_P(AsyncThrows, TheExceptionIsCaughtAtTheAwaitAndTheCoroutineGoesOn) {
  Lives lives;
  {
    PollHarness h(caught_from(GetParam(), Life(lives)));
    EXPECT_NE(h.poll_until_ready(10).value(), "");
  }
  EXPECT_EQ(lives.alive(), 0);
}

Async<std::vector<std::string>> catch_leaf(int k) {
  std::vector<std::string> seen;
  for (int round = 0; round < 3; ++round) {
    try {
      (void)co_await ThrowsAt(k, "leaf " + std::to_string(round));
      seen.emplace_back("returned");
    } catch (const std::runtime_error& error) {
      seen.emplace_back(error.what());
    }
    co_await test::PendingOnce();
  }
  co_return seen;
}
Async<std::vector<std::string>> catch_leaf_at_depth(int k, int depth) {
  if (depth == 0) co_return co_await catch_leaf(k);
  co_return co_await catch_leaf_at_depth(k, depth - 1);
}

TEST(Async, CatchesWhatALeafThrowsOnItsFirstPoll) {
  PollHarness h(catch_leaf_at_depth(1, 3));
  const std::vector<std::string> expected{"leaf 0", "leaf 1", "leaf 2"};
  EXPECT_EQ(h.poll_until_ready(10).value(), expected);
  EXPECT_EQ(h.polls(), 4u);
}

TEST(Async, CatchesWhatALeafThrowsOnALaterPoll) {
  for (int k = 2; k < 6; ++k) {
    PollHarness h(catch_leaf_at_depth(k, 3));
    const std::vector<std::string> expected{"leaf 0", "leaf 1", "leaf 2"};
    EXPECT_EQ(h.poll_until_ready(100).value(), expected);
  }
}

Async<int> let_leaf_throw(int k, std::vector<std::string>& log) {
  const Note note(log, "inner");
  co_return co_await ThrowsAt(k);
}
Async<int> let_child_throw(int k, std::vector<std::string>& log) {
  const Note note(log, "outer");
  co_return co_await let_leaf_throw(k, log);
}

TEST(Async, UnwindsInnermostFirstWhenALeafThrows) {
  for (int k = 1; k < 4; ++k) {
    std::vector<std::string> log;
    PollHarness h(let_child_throw(k, log));
    EXPECT_THROW((void)h.poll_until_ready(10), std::runtime_error);
    EXPECT_EQ(log, (std::vector<std::string>{"inner", "outer"}));
    EXPECT_EQ(h.polls(), static_cast<std::size_t>(k));
  }
}

Async<int> await_the_gate(testing::Gate<int>& gate) { co_return co_await gate.wait(); }

TEST(Async, CarriesTheVeryExceptionObject) {
  testing::Gate<int> gate;
  PollHarness h(await_the_gate(gate));
  EXPECT_TRUE(h.poll().is_pending());
  const auto error = std::make_exception_ptr(std::runtime_error("the one"));
  gate.fail(error);
  std::exception_ptr seen;
  try {
    (void)h.poll();
  } catch (...) {
    seen = std::current_exception();
  }
  EXPECT_EQ(seen, error);
}

/// A system_error that knows more than its code.
class Detailed : public std::system_error {
 public:
  Detailed() : std::system_error(std::make_error_code(std::errc::io_error), "the details") {}
};
AsyncResult<int> fail_with_details(bool suspend) {
  if (suspend) co_await test::PendingOnce();
  throw Detailed();
}
AsyncResult<int> await_details(bool suspend) { co_return co_await fail_with_details(suspend); }
Async<std::error_code> code_of_details(bool suspend) {
  co_return (co_await await_details(suspend).result()).error();
}

TEST(AsyncResult, AwaitedItThrowsTheExceptionItself) {
  for (const bool suspend : {false, true}) {
    PollHarness h(await_details(suspend));
    if (suspend) {
      EXPECT_TRUE(h.poll().is_pending());
    }
    EXPECT_THROW((void)h.poll(), Detailed);
    PollHarness code(code_of_details(suspend));
    if (suspend) {
      EXPECT_TRUE(code.poll().is_pending());
    }
    EXPECT_EQ(code.poll().value(), std::errc::io_error);
  }
}

struct ThrowsOnConversion {
  explicit ThrowsOnConversion(int x) : value(x) {}
  operator int() const {
    if (value < 0) throw std::runtime_error("conversion");
    return value;
  }
  int value;
};
Async<int> convert(int x) { co_return ThrowsOnConversion(x); }

TEST(Async, DeliversAnExceptionThrownWhileItReturns) {
  auto good = convert(1);
  EXPECT_EQ(poll_once(good).value(), 1);
  auto bad = convert(-1);
  EXPECT_THROW((void)poll_once(bad), std::runtime_error);
}

struct ThrowsWhenCopied {
  explicit ThrowsWhenCopied(bool now) : throws(now) {}
  ThrowsWhenCopied(const ThrowsWhenCopied& other) : throws(other.throws) {
    if (throws) throw std::runtime_error("copy");
  }
  bool throws;
};
Async<int> take_copy(ThrowsWhenCopied, Life life) {
  const Life local(life);
  co_return 1;
}

TEST(Async, AnArgumentWhoseCopyThrowsLeavesNothingBehind) {
  Lives lives;
  const ThrowsWhenCopied bad(true);
  EXPECT_THROW((void)take_copy(bad, Life(lives)), std::runtime_error);
  EXPECT_EQ(lives.alive(), 0);
}

struct ThrowsAtItsEnd {
  explicit ThrowsAtItsEnd(bool now) : throws(now) {}
  ThrowsAtItsEnd(const ThrowsAtItsEnd&) = delete;
  ~ThrowsAtItsEnd() noexcept(false) {
    if (throws) throw std::runtime_error("destructor");
  }
  bool throws;
};
Async<Life> throw_from_destructor(Life life, bool throws) {
  const ThrowsAtItsEnd bad(throws);
  co_return life;
}

TEST(Async, AnExceptionThrownAfterTheReturnReplacesTheValue) {
  Lives lives;
  {
    auto good = throw_from_destructor(Life(lives), false);
    EXPECT_TRUE(poll_once(good).is_ready());
    auto bad = throw_from_destructor(Life(lives), true);
    EXPECT_THROW((void)poll_once(bad), std::runtime_error);
  }
  EXPECT_EQ(lives.alive(), 0);
}

Async<int> throw_int() {
  co_await test::PendingOnce();
  throw 42;
}
Async<int> rethrow_other() {
  int caught = 0;
  try {
    (void)co_await throw_int();
  } catch (int value) {
    caught = value;
  }
  if (caught == 42) throw std::string("other");
  co_return 0;
}

TEST(Async, CarriesExceptionsOfAnyType) {
  PollHarness h(rethrow_other());
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_THROW((void)h.poll(), std::string);
}

Async<int> await_inside_catch_of_outer() {
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      sum += co_await ThrowsAt(1 + i % 2);
    } catch (const std::runtime_error&) {
      ++sum;
    }
  }
  co_return sum;
}

TEST(Async, CatchesManyExceptionsInOneCoroutine) {
  PollHarness h(await_inside_catch_of_outer());
  EXPECT_EQ(h.poll_until_ready(200).value(), 100);
}

TEST(AsyncDeathTest, PolledAfterItThrewIsRefusedByName) {
  Lives lives;
  auto future = throw_in_child(false, Life(lives));
  EXPECT_DEATH(
      {
        try {
          (void)poll_once(future);
        } catch (const std::runtime_error&) {
          (void)poll_once(future);
        }
      },
      "polled after it was ready.*throw_in_child");
}

}  // namespace
}  // namespace rouse
