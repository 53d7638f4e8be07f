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
  static constexpr std::size_t steps = 320;
  /// How many took how long, up to a moment.
  using Counts = std::array<std::uint64_t, steps>;

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
  [[nodiscard]] Counts counts() const {
    Counts copy{};
    for (std::size_t i = 0; i < steps; ++i) copy[i] = counts_[i].load(std::memory_order_relaxed);
    return copy;
  }
  [[nodiscard]] double percentile_ms(double part) const {
    return percentile_ms(counts(), part, {});
  }
  /// Of those that came after `before`.
  static double percentile_ms(const Counts& now, double part, const Counts& before) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < steps; ++i) total += now[i] - before[i];
    if (total == 0) return 0;
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total));
    std::uint64_t seen = 0;
    std::size_t step = 0;
    while (step < steps - 1 && (seen += now[step] - before[step]) <= wanted) ++step;
    return static_cast<double>((8 + step % 8 + 1) << (step / 8)) / 1e6;
  }
  [[nodiscard]] double max_ms() const {
    return static_cast<double>(longest_.load(std::memory_order_relaxed)) / 1e6;
  }

 private:
  std::array<std::atomic<std::uint64_t>, steps> counts_{};
  std::atomic<std::uint64_t> longest_{0};
};

}  // namespace rouse::test
