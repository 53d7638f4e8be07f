// The code in docs/guide/06_parallel.md that is in no example.
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/base/inplace_vector.hpp>
#include <rouse/rouse.hpp>

namespace parallel_guide {

// [all]
rouse::Async<std::size_t> length(const std::string& text) { co_return text.size(); }

rouse::Async<std::vector<std::size_t>> lengths(const std::vector<std::string>& texts) {
  std::vector<rouse::Async<std::size_t>> children;
  for (const std::string& text : texts) children.push_back(length(text));  // borrows: fine here
  co_return co_await rouse::parallel_all(std::move(children));             // in their order
}
// [/all]

TEST(ParallelGuide, AllOfARange) {
  rouse::Runtime rt;
  const std::vector<std::string> texts{"a", "bc", "def"};
  EXPECT_EQ(rt.block_on(lengths(texts)), (std::vector<std::size_t>{1, 2, 3}));
}

// [inplace]
rouse::Async<long> leaves(long depth) {
  if (depth == 0) co_return 1;
  rouse::InplaceVector<rouse::Async<long>, 4> children;  // room for four, and no allocation
  for (long i = 0; i < depth && i < 4; ++i) children.push_back(leaves(depth - 1));
  long sum = 0;
  for (const long each : co_await rouse::parallel_all(std::move(children))) sum += each;
  co_return sum;
}
// [/inplace]

TEST(ParallelGuide, AllOfAnInplaceVector) {
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(leaves(6)), 4 * 4 * 4 * 3 * 2 * 1);
}

// [for]
rouse::Async<void> square(std::vector<long>& numbers) {
  auto one = [](long& n) { n *= n; };
  co_await rouse::parallel_for(numbers, one);
}

rouse::Async<std::size_t> total_length(const std::vector<std::string>& texts) {
  std::atomic<std::size_t> total = 0;  // shared by all calls: guard it
  auto add = [&](std::size_t i) -> rouse::Async<void> { total += co_await length(texts[i]); };
  co_await rouse::parallel_for(std::size_t{0}, texts.size(), add);
  co_return total.load();
}
// [/for]

TEST(ParallelGuide, ForEachElement) {
  rouse::Runtime rt;
  std::vector<long> numbers{1, 2, 3};
  rt.block_on(square(numbers));
  EXPECT_EQ(numbers, (std::vector<long>{1, 4, 9}));
  const std::vector<std::string> texts{"a", "bc", "def"};
  EXPECT_EQ(rt.block_on(total_length(texts)), 6U);
}

// [scope]
rouse::Async<void> add_length(const std::string& text, std::atomic<std::size_t>& total) {
  co_await rouse::yield_now();
  total += text.size();
}

rouse::Async<std::size_t> length_of_words(const std::vector<std::string>& texts) {
  std::atomic<std::size_t> total = 0;
  auto start_children = [&](rouse::Scope& children) {
    for (const std::string& text : texts) {
      if (text.empty()) continue;               // how many there are turns out on the way
      children.spawn(add_length(text, total));  // borrows both
    }
  };
  co_await rouse::scope(start_children);
  co_return total.load();  // all children have ended
}
// [/scope]

TEST(ParallelGuide, AScopeWaitsForItsChildren) {
  rouse::Runtime rt;
  const std::vector<std::string> texts{"a", "", "def"};
  EXPECT_EQ(rt.block_on(length_of_words(texts)), 4U);
}

// [error]
rouse::Async<int> checked(int n, std::atomic<int>& ended) {
  co_await rouse::yield_now();
  ++ended;
  if (n < 0) throw std::invalid_argument(std::to_string(n));
  co_return n;
}

rouse::Async<std::string> first_error() {
  std::atomic<int> ended = 0;
  try {
    co_await rouse::parallel(checked(1, ended), checked(-2, ended), checked(-3, ended));
  } catch (const std::invalid_argument& error) {
    co_return std::string(error.what()) + ", ended: " + std::to_string(ended);
  }
  co_return "none";
}
// [/error]

TEST(ParallelGuide, TheFirstErrorInOrderIsThrown) {
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(first_error()), "-2, ended: 3");
}

// [cancel]
class Running {  // counts those that live
 public:
  explicit Running(std::atomic<int>& count) : count_(count) { ++count_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --count_; }

 private:
  std::atomic<int>& count_;
};

rouse::Async<void> wait_forever(std::atomic<int>& count) {
  const Running running(count);
  co_await rouse::pending_forever<>();
}

rouse::Async<int> left_after_giving_up() {
  std::atomic<int> count = 0;
  auto work = rouse::parallel(wait_forever(count), wait_forever(count));
  auto ignore = [](auto&&) {};
  auto until_done = rouse::map(std::move(work), ignore);
  co_await rouse::race(std::move(until_done), rouse::yield_now());
  co_return count.load();  // 0: the children were destroyed with the race
}
// [/cancel]

TEST(ParallelGuide, DroppingItCancelsTheChildren) {
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(left_after_giving_up()), 0);
}

TEST(ParallelGuide, EveryExecutorWillDo) {
  const std::vector<std::string> texts{"a", "bc", "def"};
  // [executors]
  EXPECT_EQ(rouse::block_on(total_length(texts)), 6U);  // this thread alone
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(total_length(texts)), 6U);  // one thread
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(total_length(texts)), 6U);  // all CPUs
  // [/executors]
}

}  // namespace parallel_guide
