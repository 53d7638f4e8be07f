// parallel_all and parallel_for: many children of one kind.
#include "rouse/exec/parallel_for.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/inplace_vector.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel_all.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

#include "exec/test_pool.hpp"

namespace rouse {
namespace {

using test::TestPool;

Async<int> doubled(int x) {
  if (x % 3 == 0) co_await yield_now();
  co_return 2 * x;
}
std::vector<Async<int>> twice_each(int count) {
  std::vector<Async<int>> futures;
  for (int i = 0; i < count; ++i) futures.push_back(doubled(i));
  return futures;
}
Async<std::vector<int>> all_of(int count) { co_return co_await parallel_all(twice_each(count)); }

TEST(ParallelAll, GivesTheOutputsInTheOrderOfTheRange) {
  for (const int count : {0, 1, 2, 10'000}) {
    std::vector<int> expected;
    for (int i = 0; i < count; ++i) expected.push_back(2 * i);
    EXPECT_EQ(block_on(all_of(count)), expected);
    EXPECT_EQ(block_on(parallel_all(twice_each(count))), expected);
    EXPECT_EQ(LocalExecutor().run_until(all_of(count)), expected);
    EXPECT_EQ(LocalExecutor().run_until(parallel_all(twice_each(count))), expected);
    EXPECT_EQ(TestPool(3).run(all_of, count), expected);
  }
}

TEST(ParallelAll, OfVoidFuturesGivesNothing) {
  int ended = 0;
  auto child = [](int& n) -> Async<void> {
    ++n;
    co_return;
  };
  std::vector<Async<void>> futures;
  for (int i = 0; i < 5; ++i) futures.push_back(child(ended));
  block_on(parallel_all(std::move(futures)));
  EXPECT_EQ(ended, 5);
}

TEST(ParallelAll, TakesFuturesThatAreNoCoroutines) {
  EXPECT_EQ(block_on(parallel_all(std::vector<Ready<int>>(3, ready(7)))), std::vector<int>(3, 7));
}

using FewFutures = InplaceVector<Async<int>, 8>;

FewFutures twice_each_of_few(int count) {
  FewFutures futures;
  for (int i = 0; i < count; ++i) futures.push_back(doubled(i));
  return futures;
}
std::vector<int> as_vector(InplaceVector<int, 8> outputs) {
  return {outputs.begin(), outputs.end()};
}
Async<std::vector<int>> all_of_few(int count) {
  co_return as_vector(co_await parallel_all(twice_each_of_few(count)));
}

TEST(ParallelAll, OfAnInplaceVectorGivesAnother) {
  for (const int count : {0, 1, 2, 8}) {
    std::vector<int> expected;
    for (int i = 0; i < count; ++i) expected.push_back(2 * i);
    EXPECT_EQ(block_on(all_of_few(count)), expected);
    EXPECT_EQ(as_vector(block_on(parallel_all(twice_each_of_few(count)))), expected);
    EXPECT_EQ(LocalExecutor().run_until(all_of_few(count)), expected);
    EXPECT_EQ(TestPool(3).run(all_of_few, count), expected);
  }
}

TEST(ParallelAll, OfAnInplaceVectorTakesFuturesThatAreNoCoroutinesAndThoseWithoutOutput) {
  InplaceVector<Ready<int>, 2> numbers;
  numbers.push_back(ready(7));
  EXPECT_EQ(block_on(parallel_all(std::move(numbers)))[0], 7);
  InplaceVector<YieldNow, 2> yields;
  for (int i = 0; i < 2; ++i) yields.push_back(yield_now());
  block_on(parallel_all(std::move(yields)));
}

Async<int> throw_if(bool throws) {
  if (throws) throw std::runtime_error("the second");
  co_return 1;
}

TEST(ParallelAll, OfAnInplaceVectorThrowsWhatAChildThrows) {
  InplaceVector<Async<int>, 3> futures;
  for (const bool throws : {false, true, false}) futures.push_back(throw_if(throws));
  EXPECT_THROW(block_on(parallel_all(std::move(futures))), std::runtime_error);
}

TEST(ParallelAll, BorrowsIfAChildDoes) {
  int x = 1;
  auto borrower = [](int& y) -> Async<int> { co_return y; };
  std::vector<Async<int>> futures;
  futures.push_back(doubled(1));
  EXPECT_FALSE(parallel_all(std::exchange(futures, {})).borrows());
  futures.push_back(borrower(x));
  EXPECT_TRUE(parallel_all(std::move(futures)).borrows());
}

Async<void> square_all(std::vector<long>& numbers, std::size_t grain) {
  co_await parallel_for(numbers, [](long& x) { x *= x; }, grain);
}

TEST(ParallelFor, CallsForEveryElementOnce) {
  for (const std::size_t count : {0UL, 1UL, 127UL, 128UL, 10'001UL}) {
    for (const std::size_t grain : {0UL, 1UL, 1000UL}) {
      std::vector<long> numbers(count);
      std::iota(numbers.begin(), numbers.end(), 0);
      block_on(square_all(numbers, grain));
      TestPool(2).run(borrowed(square_all(numbers, grain)));
      for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<long>(i);
        ASSERT_EQ(numbers[i], x * x * x * x);
      }
    }
  }
}

TEST(ParallelFor, GoesThroughIntegersInOrderOnOneThread) {
  std::vector<int> seen;
  auto note = [&](int i) { seen.push_back(i); };
  block_on(parallel_for(-3, 300, note));
  std::vector<int> expected(303);
  std::iota(expected.begin(), expected.end(), -3);
  EXPECT_EQ(seen, expected);
  block_on(parallel_for(5, 5, note));
  block_on(parallel_for(5, 4, note));
  EXPECT_EQ(seen.size(), 303U);
}

TEST(ParallelFor, CountsWithAnyTypeOfInteger) {
  long sum = 0;
  auto add = [&](auto i) { sum += static_cast<long>(i); };
  block_on(parallel_for(std::size_t{1}, std::size_t{1001}, add));
  EXPECT_EQ(sum, 500'500);
  sum = 0;
  block_on(parallel_for(std::int8_t{-128}, std::int8_t{127}, add));  // more than fit into it
  EXPECT_EQ(sum, -255);  // -128 and -127: the others cancel out
}

TEST(ParallelFor, AwaitsTheFutureThatTheFunctionReturns) {
  atomic<int> sum{0};
  auto add = [&](int i) -> Async<void> {
    co_await yield_now();
    sum.fetch_add(i, memory_order_relaxed);
  };
  block_on(parallel_for(0, 1001, add));
  EXPECT_EQ(sum.load(), 500'500);
  TestPool(3).run(parallel_for(0, 1001, add));
  EXPECT_EQ(sum.load(), 1'001'000);
}

TEST(ParallelFor, KeepsARangeThatIsGivenAway) {
  auto sum = std::make_shared<atomic<int>>(0);
  auto add = [sum](int x) { sum->fetch_add(x, memory_order_relaxed); };
  TestPool(2).run(parallel_for(std::vector<int>(1000, 3), add));
  EXPECT_EQ(sum->load(), 3000);
}

TEST(ParallelFor, BorrowsTheRangeItIsGivenByReference) {
  std::vector<int> numbers(3);
  EXPECT_TRUE(parallel_for(numbers, [](int) {}).borrows());
  EXPECT_FALSE(parallel_for(std::vector<int>(3), [](int) {}).borrows());
}

TEST(ParallelFor, ThrowsOneOfTheErrors) {
  auto fails = [](int i) {
    if (i % 100 == 7) throw i;
  };
  try {
    block_on(parallel_for(0, 1000, fails));
    FAIL();
  } catch (int thrown) {
    EXPECT_EQ(thrown % 100, 7);
  }
}

}  // namespace
}  // namespace rouse
