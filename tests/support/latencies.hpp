// Latencies: how long things took, in steps of an eighth of a power of two. Its memory stays the
// same, whatever is counted, and any thread may count.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rouse::test {

class Latencies {
 public:
  void add(std::chrono::nanoseconds time) {
    const auto value = static_cast<std::uint64_t>(std::max(time.count(), std::int64_t{8}));
    const auto octave = static_cast<std::size_t>(std::bit_width(value)) - 4;
    const std::size_t step = octave * 8 + (value >> octave) - 8;
    counts_[std::min(step, counts_.size() - 1)].fetch_add(1, std::memory_order_relaxed);
    std::uint64_t longest = longest_.load(std::memory_order_relaxed);
    while (longest < value &&
           !longest_.compare_exchange_weak(longest, value, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
    return sum;
  }
  [[nodiscard]] double percentile_ms(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total()));
    std::uint64_t seen = 0;
    std::size_t step = 0;
    while (step < counts_.size() - 1 && (seen += counts_[step]) <= wanted) ++step;
    return static_cast<double>((8 + step % 8 + 1) << (step / 8)) / 1e6;
  }
  [[nodiscard]] double max_ms() const {
    return static_cast<double>(longest_.load(std::memory_order_relaxed)) / 1e6;
  }

 private:
  std::array<std::atomic<std::uint64_t>, 320> counts_{};
  std::atomic<std::uint64_t> longest_{0};
};

}  // namespace rouse::test
