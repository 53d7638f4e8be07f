// The small types that stand for the standard's in public headers, whose headers are heavy.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/native_atomic.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/base/internal/random.hpp"
#include "rouse/base/internal/stable_vector.hpp"

namespace rouse::internal {
namespace {

TEST(Maybe, IsAsTrivialAsWhatItHolds) {
  static_assert(std::is_trivially_copyable_v<Maybe<int>>);
  static_assert(std::is_trivially_destructible_v<Maybe<int>>);
  static_assert(!std::is_copy_constructible_v<Maybe<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Maybe<std::unique_ptr<int>>>);
  constexpr Maybe<int> seven(std::in_place, 7);
  static_assert(seven.has_value() && *seven == 7);
}

TEST(Maybe, OwnsItsValue) {
  const auto alive = std::make_shared<int>(1);
  {
    Maybe<std::shared_ptr<int>> first(std::in_place, alive);
    Maybe<std::shared_ptr<int>> second = first;
    EXPECT_EQ(alive.use_count(), 3);
    Maybe<std::shared_ptr<int>> nothing;
    second = nothing;
    EXPECT_FALSE(second);
    EXPECT_EQ(alive.use_count(), 2);
    second = std::move(first);
    EXPECT_EQ(*second, alive);
    const auto& same = second;
    second = same;
    EXPECT_EQ(*second, alive);
    first = second;
    second.reset();
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

struct WithoutAddress {
  explicit WithoutAddress(int number) noexcept : value(number) {}
  void operator&() const = delete;
  int value;
};

TEST(Maybe, HoldsATypeThatOverloadsAddressOf) {
  Maybe<WithoutAddress> some;
  some.emplace(3);
  EXPECT_EQ((*some).value, 3);
}

struct Base {
  virtual ~Base() = default;
};
struct Counted : Base {
  explicit Counted(int& number) noexcept : destroyed(number) {}
  ~Counted() override { ++destroyed; }
  int& destroyed;
};

TEST(Box, DestroysWhatItOwnsOnce) {
  int destroyed = 0;
  {
    Box<Base> base = make_box<Counted>(destroyed);
    Box<Base> other = std::move(base);
    EXPECT_FALSE(base);  // NOLINT(bugprone-use-after-move)
    other = make_box<Counted>(destroyed);
    EXPECT_EQ(destroyed, 1);
    const Box<Base> released(other.release());
    EXPECT_FALSE(other);
  }
  EXPECT_EQ(destroyed, 2);
  Box<int[]> array(new int[3]{1, 2, 3});
  array = Box<int[]>(new int[1]{4});
  EXPECT_EQ(array[0], 4);
}

struct Thing {
  int add(int number) const { return value + number; }
  int value = 0;
};

TEST(Invoke, DoesWhatTheStandardsDoes) {
  Thing thing{5};
  EXPECT_EQ(invoke(&Thing::add, thing, 1), 6);
  EXPECT_EQ(invoke(&Thing::add, &thing, 2), 7);
  EXPECT_EQ(invoke(&Thing::add, std::ref(thing), 3), 8);
  EXPECT_EQ(invoke(&Thing::add, std::make_unique<Thing>(thing), 4), 9);
  invoke(&Thing::value, thing) = 10;
  EXPECT_EQ(invoke(&Thing::value, std::cref(thing)), 10);
  EXPECT_EQ(invoke([](auto... numbers) { return (numbers + ...); }, 1, 2, 3), 6);
}

TEST(StableVector, GrowsWithoutMovingAndDestroysAll) {
  int destroyed = 0;
  {
    StableVector<Counted> grown;
    Counted* const first = &grown.emplace_back(destroyed);
    for (int i = 1; i < 100; ++i) grown.emplace_back(destroyed);
    EXPECT_EQ(grown.size(), 100U);
    EXPECT_EQ(&grown[0], first);
    StableVector<Counted> moved = std::move(grown);
    EXPECT_EQ(&moved[0], first);
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 100);
}

TEST(NativeAtomic, DoesWhatTheStandardsDoes) {
  NativeAtomic<std::int8_t> number(100);
  EXPECT_EQ(number.fetch_add(100), 100);
  EXPECT_EQ(number.load(), static_cast<std::int8_t>(200));  // wraps around, as the standard's
  EXPECT_EQ(number.exchange(6, std::memory_order_acq_rel), static_cast<std::int8_t>(200));
  EXPECT_EQ(number.fetch_or(1), 6);
  EXPECT_EQ(number.fetch_and(3), 7);
  EXPECT_EQ(number.fetch_xor(1), 3);
  EXPECT_EQ(number.fetch_sub(1), 2);
  EXPECT_EQ(++number, 2);
  EXPECT_EQ(number--, 2);
  EXPECT_EQ(number += 4, 5);
  std::int8_t expected = 4;
  EXPECT_FALSE(number.compare_exchange_strong(expected, 9));
  EXPECT_EQ(expected, 5);
  EXPECT_TRUE(number.compare_exchange_strong(expected, 9, std::memory_order_release));
  EXPECT_EQ(number, 9);
}

template <class T>
concept Counts = requires(NativeAtomic<T>& atomic, T operand) { atomic.fetch_add(operand); };

TEST(NativeAtomic, OfAPointerOrAnEnumDoesNotCount) {
  enum class State : std::uint8_t { first, second };
  static_assert(Counts<int> && !Counts<int*> && !Counts<State>);
  NativeAtomic<State> state(State::first);
  EXPECT_EQ(state.exchange(State::second), State::first);
  static_assert(alignof(NativeAtomic<std::uint64_t>) == 8 && sizeof(NativeAtomic<bool>) == 1);
}

TEST(Pack, KeepsValuesInOrderAndGivesThemAway) {
  Pack<int, std::unique_ptr<int>, std::string> pack(std::in_place, 1, std::make_unique<int>(2),
                                                    "3");
  EXPECT_EQ(pack.get<0>(), 1);
  pack.get<2>() += "!";
  EXPECT_TRUE(pack.any_of([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, int>) return value == 1;
    return false;
  }));
  EXPECT_FALSE(pack.any_of([](const auto&) { return false; }));
  pack.give_to([](int one, std::unique_ptr<int> two, std::string three) {
    EXPECT_EQ(one + *two, 3);
    EXPECT_EQ(three, "3!");
  });
  EXPECT_EQ(pack.get<1>(), nullptr);
}

TEST(Pack, OfEmptyTypesKeepsTheirNumber) {
  struct Empty {
    explicit Empty(int& count) { ++count; }
  };
  int made = 0;
  Pack<Empty, Empty> pack(std::in_place, Empty(made), Empty(made));
  EXPECT_EQ(made, 2);
  EXPECT_NE(static_cast<void*>(&pack.get<0>()), static_cast<void*>(&pack.get<1>()));
}

TEST(RandomBelow, GivesEachAboutAsOften) {
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen[random_below(7)];
  for (const int count : seen) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1200);
  }
  EXPECT_EQ(random_below(1), 0U);
}

}  // namespace
}  // namespace rouse::internal
