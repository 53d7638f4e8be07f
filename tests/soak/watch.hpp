// Watch: what the process uses while the load runs, sampled by a thread of its own, and a progress
// line: on a terminal one that is written anew each second, else one every ten seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
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
  std::size_t memory_kib = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

class Watch {
 public:
  Watch(std::string phase, const Figures& figures, std::chrono::seconds planned);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// Ends the sampling.
  ~Watch();

  /// Ends the sampling. The median of the resident memory in each quarter of the time, in MiB.
  std::vector<double> memory_by_quarter();
  [[nodiscard]] const Footprint& peak() const noexcept { return peak_; }

 private:
  void sample_until_stopped();
  void show(const Footprint& now, std::chrono::seconds passed) const;
  void stop();

  const std::string phase_;
  const Figures& figures_;
  const std::chrono::seconds planned_;
  std::vector<std::size_t> memory_kib_;
  Footprint peak_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rouse::soak
