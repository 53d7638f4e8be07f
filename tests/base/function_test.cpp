#include "rouse/base/function.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace rouse {
namespace {

int twice(int number) { return 2 * number; }

TEST(Function, CallsWhatItWasMadeFrom) {
  const Function<int(int)> of_function = twice;
  EXPECT_EQ(of_function(3), 6);
  int calls = 0;
  const Function<int(int)> of_lambda = [&calls](int number) { return number + ++calls; };
  EXPECT_EQ(of_lambda(10), 11);
  EXPECT_EQ(of_lambda(10), 12);
  const Function<int(int)> of_std_function = std::function<int(int)>(twice);
  EXPECT_EQ(of_std_function(4), 8);
}

TEST(Function, PassesArgumentsOnAndDropsAResultThatIsNotAskedFor) {
  const Function<std::string(std::unique_ptr<int>, const std::string&)> joins =
      [](std::unique_ptr<int> number, const std::string& text) {
        return text + std::to_string(*number);
      };
  EXPECT_EQ(joins(std::make_unique<int>(7), "x"), "x7");
  int called_with = 0;
  const Function<void(int)> drops = [&called_with](int number) { return called_with = number; };
  drops(5);
  EXPECT_EQ(called_with, 5);
}

TEST(Function, MadeFromNothingItIsEmpty) {
  EXPECT_FALSE(Function<void()>());
  EXPECT_FALSE(Function<void()>(nullptr));
  EXPECT_FALSE(Function<void()>(std::function<void()>()));
  int (*const no_function)(int) = nullptr;
  EXPECT_FALSE(Function<int(int)>(no_function));
  EXPECT_TRUE(Function<int(int)>(twice));
}

TEST(Function, CopiesShareWhatTheyCallAndTheLastDestroysIt) {
  const auto alive = std::make_shared<int>(0);
  Function<int()> first = [alive, calls = 0]() mutable { return ++calls; };
  EXPECT_EQ(alive.use_count(), 2);
  Function<int()> second = first;
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(second(), 2);
  const Function<int()> third = std::move(first);
  second = nullptr;
  EXPECT_EQ(alive.use_count(), 2);
  EXPECT_EQ(third(), 3);
  second = third;
  EXPECT_EQ(alive.use_count(), 2);
}

TEST(FunctionDeathTest, AnEmptyOneIsNotCalled) {
  const Function<void()> empty;
  EXPECT_DEATH(empty(), "call of an empty Function");
}

}  // namespace
}  // namespace rouse
