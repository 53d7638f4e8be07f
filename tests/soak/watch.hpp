// Watch: what the process uses and how late it is while the load runs, sampled by a thread of its
// own, and a progress line: on a terminal one that is written anew each second, else one every ten
// seconds. It ends a load that uses far too much before the machine does, and the process if
// nothing goes on any more.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "soak/load.hpp"

namespace rouse::soak {

/// What the process has at a moment.
class Footprint {
 public:
  static Footprint now();
  double memory_mib = 0;
  double descriptors = 0;
  double threads = 0;
};

class Sample : public Footprint {
 public:
  double echo_p99_ms = 0;  // of what ended since the last sample
  double tick_p99_ms = 0;
};

class Watch {
 public:
  static constexpr double most_memory_mib = 4096;
  static constexpr std::chrono::seconds longest_standstill{120};
  using Quarters = std::array<double, 4>;

  /// Sets `stop_load` if the process has more than `most_memory_mib`.
  Watch(std::string phase, const Figures& figures, std::chrono::seconds planned,
        std::atomic<bool>& stop_load);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Ends the sampling; what is below is for after that.
  void stop();

  [[nodiscard]] const Footprint& peak() const noexcept { return peak_; }
  [[nodiscard]] std::chrono::seconds passed() const noexcept { return passed_; }
  /// The median of a figure in each quarter of the time.
  [[nodiscard]] Quarters by_quarter(double Sample::* figure) const;

 private:
  void sample_until_stopped();
  void take_sample();
  void end_if_it_hangs();
  void show() const;

  const std::string phase_;
  const Figures& figures_;
  const std::chrono::seconds planned_;
  std::atomic<bool>& stop_load_;
  const bool is_terminal_;
  std::vector<Sample> samples_;
  test::Latencies::Counts echo_before_{};
  test::Latencies::Counts tick_before_{};
  std::uint64_t done_before_ = 0;
  std::chrono::seconds went_on_at_{0};
  Footprint peak_;
  std::chrono::seconds passed_{0};
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rouse::soak
