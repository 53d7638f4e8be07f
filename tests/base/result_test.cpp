#include "rouse/base/result.hpp"

#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace rouse {
namespace {

const std::error_code refused = std::make_error_code(std::errc::connection_refused);

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 5;
  EXPECT_TRUE(value);
  EXPECT_TRUE(value.has_value());
  EXPECT_EQ(*value, 5);
  EXPECT_EQ(value.value(), 5);

  const Result<int> error = refused;
  EXPECT_FALSE(error);
  EXPECT_FALSE(error.has_value());
  EXPECT_EQ(error.error(), refused);
}

TEST(Result, IsMadeFromErrcAndConvertibleValues) {
  const Result<std::string> text = "text";
  EXPECT_EQ(*text, "text");
  EXPECT_EQ(text->size(), 4u);
  const Result<std::string> error = std::errc::connection_refused;
  EXPECT_EQ(error.error(), refused);
}

TEST(Result, IsMadeFromAnEnumOfErrorCodes) {
  const Result<int> error = std::future_errc::broken_promise;
  EXPECT_EQ(error.error(), std::make_error_code(std::future_errc::broken_promise));
  const Result<> nothing = std::future_errc::no_state;
  EXPECT_EQ(nothing.error(), std::future_errc::no_state);
}

TEST(Result, ValueThrowsTheErrorAsASystemError) {
  const Result<int> error = refused;
  try {
    (void)error.value();
    FAIL() << "did not throw";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.code(), refused);
  }
  const Result<void> nothing = refused;
  EXPECT_THROW(nothing.value(), std::system_error);
}

TEST(Result, OfVoidIsSuccessByDefault) {
  const Result<void> success;
  EXPECT_TRUE(success);
  success.value();
  *success;
  const Result<> error = std::errc::timed_out;
  EXPECT_FALSE(error);
}

TEST(Result, HoldsMoveOnlyValuesAndGivesThemOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  auto moved = std::move(result);
  const std::unique_ptr<int> value = *std::move(moved);
  EXPECT_EQ(*value, 3);
  Result<std::unique_ptr<int>> again = std::make_unique<int>(4);
  EXPECT_EQ(*std::move(again).value(), 4);
}

TEST(Result, CanBeChangedInPlaceAndAssigned) {
  Result<std::string> result = "a";
  *result += "b";
  result->append("c");
  result.value() += "d";
  EXPECT_EQ(*result, "abcd");
  result = Result<std::string>(refused);
  EXPECT_FALSE(result);
  result = Result<std::string>("again");
  EXPECT_EQ(*result, "again");
}

TEST(Result, ValueOrGivesTheOtherForAnErrorOnly) {
  EXPECT_EQ(Result<int>(5).value_or(7), 5);
  EXPECT_EQ(Result<int>(refused).value_or(7), 7);
  const Result<std::string> error = refused;
  EXPECT_EQ(error.value_or("other"), "other");
}

TEST(Result, MapChangesTheValueAndKeepsTheError) {
  const auto size = [](const std::string& s) { return s.size(); };
  EXPECT_EQ(*Result<std::string>("text").map(size), 4u);
  EXPECT_EQ(Result<std::string>(refused).map(size).error(), refused);

  int calls = 0;
  const auto count = [&](int) { ++calls; };
  EXPECT_TRUE(Result<int>(1).map(count));
  EXPECT_FALSE(Result<int>(refused).map(count));
  EXPECT_EQ(calls, 1);
}

TEST(Result, AndThenGoesOnWithTheValueOnly) {
  const auto half = [](int x) -> Result<int> {
    if (x % 2) return std::errc::invalid_argument;
    return x / 2;
  };
  EXPECT_EQ(*Result<int>(4).and_then(half).and_then(half), 1);
  EXPECT_EQ(Result<int>(6).and_then(half).and_then(half).error(),
            std::make_error_code(std::errc::invalid_argument));
  EXPECT_EQ(Result<int>(refused).and_then(half).error(), refused);
}

TEST(Result, OrElseHandlesTheErrorOnly) {
  const auto recover = [](std::error_code code) -> Result<int> {
    EXPECT_EQ(code, refused);
    return 1;
  };
  EXPECT_EQ(*Result<int>(5).or_else(recover), 5);
  EXPECT_EQ(*Result<int>(refused).or_else(recover), 1);
}

TEST(Result, OfVoidMapsAndGoesOn) {
  EXPECT_EQ(*Result<void>().map([] { return 3; }), 3);
  int calls = 0;
  EXPECT_TRUE(Result<void>().map([&] { ++calls; }));
  EXPECT_EQ(Result<void>(refused).map([] { return 3; }).error(), refused);
  EXPECT_EQ(*Result<void>().and_then([] { return Result<int>(4); }), 4);
  EXPECT_FALSE(Result<void>(refused).and_then([] { return Result<int>(4); }));
  EXPECT_TRUE(Result<void>(refused).or_else([](std::error_code) { return Result<void>(); }));
  EXPECT_EQ(calls, 1);
}

TEST(Result, OfOneTypeDoesNotTurnIntoAValueOfAnother) {
  // Result<int> has an explicit operator bool: an error must not become `false`, a value.
  static_assert(!std::is_convertible_v<Result<int>, Result<bool>>);
  static_assert(!std::is_convertible_v<Result<void>, Result<bool>>);
  static_assert(!std::is_convertible_v<Result<int>, Result<std::string>>);
  // Nor may a number become a vector of that many elements.
  static_assert(!std::is_convertible_v<int, Result<std::vector<int>>>);
  static_assert(std::is_convertible_v<const char*, Result<std::string>>);
}

TEST(Result, KnowsItself) {
  static_assert(internal::is_result<Result<int>>);
  static_assert(internal::is_result<Result<void>>);
  static_assert(!internal::is_result<int>);
}

TEST(ResultDeathTest, WrongAnswersAreRefused) {
  EXPECT_DEATH((void)Result<int>(1).error(), "error\\(\\) of a Result that has a value");
  EXPECT_DEATH((void)*Result<int>(refused), "\\* of a Result that holds an error: ask has_value");
  EXPECT_DEATH(*Result<void>(refused), "\\* of a Result that holds an error");
  EXPECT_DEATH((void)Result<int>(std::error_code()), "error_code that says success");
}

}  // namespace
}  // namespace rouse
