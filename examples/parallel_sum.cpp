// Computing on all CPUs: a sum and a quick sort with parallel, a table with parallel_for. The
// children borrow the caller's numbers: they end before the await does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

constexpr std::size_t small = 2000;  // not worth being divided: a few microseconds of work

// [sum]
rouse::Async<std::uint64_t> sum(std::span<const std::uint32_t> numbers) {
  if (numbers.size() <= small) {
    co_return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  }
  const std::size_t half = numbers.size() / 2;
  auto [left, right] =
      co_await rouse::parallel(sum(numbers.first(half)), sum(numbers.subspan(half)));
  co_return left + right;
}
// [/sum]

// [sort]
rouse::Async<void> sort(std::span<std::uint32_t> numbers) {
  if (numbers.size() <= small) {
    std::sort(numbers.begin(), numbers.end());
    co_return;
  }
  const std::uint32_t pivot = numbers[numbers.size() / 2];
  const auto equal =
      std::partition(numbers.begin(), numbers.end(), [=](auto n) { return n < pivot; });
  const auto greater = std::partition(equal, numbers.end(), [=](auto n) { return n == pivot; });
  co_await rouse::parallel(sort(std::span(numbers.begin(), equal)),
                           sort(std::span(greater, numbers.end())));
}
// [/sort]

std::vector<std::uint32_t> shuffled(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::uint32_t random = 1;
  for (std::uint32_t& number : numbers) number = (random = random * 1664525 + 1013904223) >> 8;
  return numbers;
}

/// How many steps n -> n/2 or 3n+1 it takes to get to 1.
std::uint32_t steps_to_one(std::uint64_t n) {
  std::uint32_t steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

rouse::Async<void> async_main() {
  std::vector<std::uint32_t> numbers = shuffled(1'000'000);
  const std::uint64_t before = co_await sum(numbers);
  co_await sort(numbers);
  const std::uint64_t after = co_await sum(numbers);
  std::printf("sorted: %s\n", std::is_sorted(numbers.begin(), numbers.end()) ? "yes" : "no");
  std::printf("the same sum: %s\n", before == after ? "yes" : "no");

  std::vector<std::uint32_t> steps(100'000);
  auto count = [&](std::size_t n) { steps[n] = steps_to_one(n); };  // each call has its own place
  co_await rouse::parallel_for(std::size_t{1}, steps.size(), count);
  const auto longest = std::max_element(steps.begin(), steps.end());
  std::printf("longest way to 1 below 100000: %td, %u steps\n", longest - steps.begin(), *longest);
}

}  // namespace

int main() { return rouse::run(async_main); }
