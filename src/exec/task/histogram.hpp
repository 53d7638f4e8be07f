// Histogram: how many durations there were of each length, in 2 KiB: four steps a doubling, so a
// length is known to a quarter. One thread at a time adds, any may read.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "exec/task/counter.hpp"

namespace rouse::internal {

class Histogram {
 public:
  /// Steps for all durations that 64 bits can say.
  static constexpr std::size_t size = 252;

  void add(std::uint64_t ns) noexcept {
    counts_[step_of(ns)].add();
    sum_.add(ns);
  }

  [[nodiscard]] std::uint64_t count(std::size_t step) const noexcept { return counts_[step].get(); }
  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return sum_.get(); }
  /// All that were added.
  [[nodiscard]] std::uint64_t total() const noexcept {
    std::uint64_t total = 0;
    for (const Counter& count : counts_) total += count.get();
    return total;
  }

  /// Below four nanoseconds a step each, then four a doubling.
  static constexpr std::size_t step_of(std::uint64_t ns) noexcept {
    if (ns < 4) return ns;
    const auto doubling = static_cast<std::size_t>(std::bit_width(ns)) - 1;
    return (doubling - 1) * 4 + ((ns >> (doubling - 2)) & 3);
  }
  /// The shortest duration of a step.
  static constexpr std::uint64_t least_of(std::size_t step) noexcept {
    if (step < 4) return step;
    const std::size_t doubling = step / 4 + 1;
    return (std::uint64_t{4} + step % 4) << (doubling - 2);
  }

 private:
  std::array<Counter, size> counts_;
  Counter sum_;
};

}  // namespace rouse::internal
