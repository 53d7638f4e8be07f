#include "rouse/core/internal/outcome.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "rouse/core/future.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::Life;
using test::Lives;

std::exception_ptr error(const char* what) {
  return std::make_exception_ptr(std::runtime_error(what));
}

TEST(Outcome, IsFirstNothing) {
  const Outcome<int> outcome;
  EXPECT_FALSE(outcome.is_set());
  EXPECT_FALSE(outcome.is_error());
}

TEST(Outcome, KeepsAValueUntilItIsTaken) {
  Outcome<std::unique_ptr<int>> outcome;
  outcome.set_value(std::make_unique<int>(5));
  EXPECT_TRUE(outcome.is_set());
  EXPECT_FALSE(outcome.is_error());
  EXPECT_EQ(*outcome.take(), 5);
}

TEST(Outcome, ThrowsTheErrorItKeeps) {
  Outcome<int> outcome;
  outcome.set_error(error("kept"));
  EXPECT_TRUE(outcome.is_set());
  EXPECT_TRUE(outcome.is_error());
  EXPECT_THROW(outcome.take(), std::runtime_error);
  EXPECT_TRUE(outcome.error() != nullptr);
}

TEST(Outcome, OfAReferenceRefersToTheObjectItself) {
  int x = 1;
  Outcome<int&> outcome;
  outcome.set_value(x);
  outcome.take() = 2;
  EXPECT_EQ(x, 2);
  static_assert(std::is_same_v<decltype(outcome.take()), int&>);
}

TEST(Outcome, OfVoidIsSetWithoutAValue) {
  Outcome<void> outcome;
  outcome.set_value();
  EXPECT_TRUE(outcome.is_set());
  outcome.take();
}

TEST(Outcome, DestroysWhatItHoldsOnce) {
  Lives lives;
  {
    Outcome<Life> outcome;
    outcome.set_value(lives);
    EXPECT_EQ(lives.alive(), 1);
  }
  EXPECT_EQ(lives.alive(), 0);
  {
    Outcome<Life> never_set;
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Outcome, MovesItsValueOrItsError) {
  Outcome<std::string> value;
  value.set_value("text");
  Outcome<std::string> moved_value(std::move(value));
  EXPECT_EQ(moved_value.take(), "text");

  Outcome<std::string> failed;
  failed.set_error(error("kept"));
  Outcome<std::string> moved_error(std::move(failed));
  EXPECT_THROW(moved_error.take(), std::runtime_error);

  Outcome<std::string> nothing;
  const Outcome<std::string> moved_nothing(std::move(nothing));
  EXPECT_FALSE(moved_nothing.is_set());
}

TEST(Outcome, ResetMakesItUsableAgain) {
  Outcome<std::string> outcome;
  outcome.set_value("first");
  outcome.reset();
  EXPECT_FALSE(outcome.is_set());
  outcome.set_value("second");
  EXPECT_EQ(outcome.take(), "second");
}

TEST(Outcome, AValueWhoseConstructorThrowsLeavesItUnset) {
  struct Throws {
    explicit Throws(int) { throw std::runtime_error("constructor"); }
  };
  Outcome<Throws> outcome;
  EXPECT_THROW(outcome.set_value(1), std::runtime_error);
  EXPECT_FALSE(outcome.is_set());
}

TEST(OutcomeDeathTest, TakingFromAnUnsetOneIsRefused) {
  Outcome<int> outcome;
  EXPECT_DEATH((void)outcome.take(), "the result is not there yet");
}

TEST(PollInto, StaysUnsetWhilePendingAndKeepsTheValueThen) {
  Outcome<std::string> outcome;
  test::ReadyAfter<std::string> future(1, "done");
  Context cx(Waker::noop());
  EXPECT_FALSE(poll_into(outcome, future, cx));
  EXPECT_FALSE(outcome.is_set());
  EXPECT_TRUE(poll_into(outcome, future, cx));
  EXPECT_EQ(outcome.take(), "done");
}

TEST(PollInto, KeepsAnException) {
  Outcome<int> outcome;
  test::ThrowsAt future(1);
  Context cx(Waker::noop());
  EXPECT_TRUE(poll_into(outcome, future, cx));
  EXPECT_TRUE(outcome.is_error());
}

TEST(PollInto, SetsAVoidOutcome) {
  Outcome<void> outcome;
  test::PendingOnce future;
  Context cx(Waker::noop());
  EXPECT_FALSE(poll_into(outcome, future, cx));
  EXPECT_TRUE(poll_into(outcome, future, cx));
  EXPECT_TRUE(outcome.is_set());
}

}  // namespace
}  // namespace rouse
