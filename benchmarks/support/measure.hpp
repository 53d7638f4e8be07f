// How a row is measured: the clock, the number of repetitions, memory, percentiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

/// The compiler takes `value` for used and all memory for read and written.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// A wrong result makes a time worthless.
inline void check(bool right) {
  if (right) return;
  std::fputs("wrong result\n", stderr);
  std::abort();
}

inline double ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

/// Once unmeasured, then until 0.2 s have passed; with ROUSE_BENCH_RUNS=K in the environment K
/// times and nothing before, to count instructions. `while (repetitions.next()) work();` also
/// holds in a coroutine.
class Repetitions {
 public:
  Repetitions() {
    if (const char* runs = std::getenv("ROUSE_BENCH_RUNS")) fixed_ = std::atol(runs);
    if (fixed_ > 0) warm_ups_ = 0;
  }

  bool next() {
    const Clock::time_point now = Clock::now();
    if (started_ == warm_ups_) start_ = now;
    if (started_ > warm_ups_) {
      elapsed_ns_ = ns_between(start_, now);
      if (fixed_ > 0 ? started_ == fixed_ : elapsed_ns_ >= 0.2e9) return false;
    }
    ++started_;
    return true;
  }

  double mean_ns() const { return elapsed_ns_ / static_cast<double>(started_ - warm_ups_); }

 private:
  long fixed_ = 0;
  long warm_ups_ = 1;
  long started_ = 0;
  Clock::time_point start_;
  double elapsed_ns_ = 0;
};

/// The mean time of one of the `operations` that a call of `work` does.
template <class Work>
double mean_ns(long operations, Work&& work) {
  Repetitions repetitions;
  while (repetitions.next()) work();
  return repetitions.mean_ns() / static_cast<double>(operations);
}

/// What the process has in memory now.
inline long resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = 0;
  check(file != nullptr && std::fscanf(file, "%ld %ld", &total, &resident) == 2);
  std::fclose(file);
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// What all threads of the process have used of the processors so far.
inline double process_cpu_ns() {
  std::timespec time{};
  check(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// The values below which these shares (0.5, 0.99) of all lie.
inline std::vector<double> percentiles(std::vector<double> values,
                                       const std::vector<double>& shares) {
  check(!values.empty());
  std::sort(values.begin(), values.end());
  std::vector<double> found;
  for (const double share : shares) {
    const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    found.push_back(values[std::min(index, values.size() - 1)]);
  }
  return found;
}

}  // namespace bench
