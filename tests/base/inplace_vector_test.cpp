#include "rouse/base/inplace_vector.hpp"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace rouse {
namespace {

TEST(InplaceVector, HoldsWhatIsPushed) {
  InplaceVector<std::string, 3> texts;
  EXPECT_TRUE(texts.empty());
  EXPECT_EQ(texts.capacity(), 3U);
  texts.push_back("a text that is longer than a short one is");
  texts.push_back("b");
  ASSERT_EQ(texts.size(), 2U);
  texts[1] += "c";
  const auto& constant = texts;
  EXPECT_EQ(constant[1], "bc");
  EXPECT_EQ(std::accumulate(constant.begin(), constant.end(), std::string()),
            "a text that is longer than a short one isbc");
  texts.pop_back();
  EXPECT_EQ(texts.size(), 1U);
  texts.clear();
  EXPECT_TRUE(texts.empty());
}

TEST(InplaceVector, MovesItsElementsAndIsEmptyThen) {
  InplaceVector<std::unique_ptr<int>, 2> numbers;
  numbers.push_back(std::make_unique<int>(1));
  numbers.push_back(std::make_unique<int>(2));
  InplaceVector<std::unique_ptr<int>, 2> moved(std::move(numbers));
  EXPECT_TRUE(numbers.empty());  // NOLINT(bugprone-use-after-move): it is promised
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_EQ(*moved[1], 2);
  numbers.push_back(std::make_unique<int>(3));
  numbers = std::move(moved);
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_EQ(*numbers[0], 1);
}

/// Writes down who is destroyed.
class Noted {
 public:
  Noted(std::string& log, char name) : log_(&log), name_(name) {}
  Noted(Noted&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
  Noted& operator=(Noted&&) = delete;
  ~Noted() {
    if (log_ != nullptr) *log_ += name_;
  }

 private:
  std::string* log_;
  char name_;
};

TEST(InplaceVector, DestroysTheLastElementFirst) {
  std::string log;
  {
    InplaceVector<Noted, 4> all;
    for (const char name : {'a', 'b', 'c'}) all.push_back(Noted(log, name));
  }
  EXPECT_EQ(log, "cba");
}

/// The third move throws.
class ThrowsWhenMoved {
 public:
  ThrowsWhenMoved(int& alive, int& moves) : alive_(alive), moves_(moves) { ++alive_; }
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : alive_(other.alive_), moves_(other.moves_) {
    if (++moves_ == 3) throw std::runtime_error("moved");
    ++alive_;
  }
  ThrowsWhenMoved& operator=(ThrowsWhenMoved&&) = delete;
  ~ThrowsWhenMoved() { --alive_; }

 private:
  int& alive_;
  int& moves_;
};

TEST(InplaceVector, AMoveThatThrowsLeavesNothingBehind) {
  using Four = InplaceVector<ThrowsWhenMoved, 4>;
  int alive = 0;
  int moves = -10;
  {
    Four all;
    for (int i = 0; i < 4; ++i) all.push_back(ThrowsWhenMoved(alive, moves));
    moves = 0;
    EXPECT_THROW(Four(std::move(all)), std::runtime_error);
    EXPECT_EQ(alive, 4) << "all that are in the first one";
  }
  EXPECT_EQ(alive, 0);
}

TEST(InplaceVectorDeathTest, OneThatIsFullStops) {
  InplaceVector<int, 1> one;
  one.push_back(1);
  EXPECT_DEATH(one.push_back(2), "InplaceVector that is full");
  one.pop_back();
  EXPECT_DEATH(one.pop_back(), "empty InplaceVector");
}

}  // namespace
}  // namespace rouse
