// The examples sleep for the seconds of the texts they come from. `--scale 0.1` makes them ten
// times as fast; the times they print stay those of scale 1.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

class Scale {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;

  /// Understands `--scale FACTOR`; ends the program on anything else.
  Scale(int argc, char** argv) {
    if (argc == 1) return;
    char* end = nullptr;
    if (argc == 3 && std::string_view(argv[1]) == "--scale") factor_ = std::strtod(argv[2], &end);
    if (end != nullptr && end != argv[2] && *end == '\0' && factor_ > 0 && factor_ <= 100) return;
    std::fprintf(stderr, "usage: %s [--scale FACTOR]   e.g. --scale 0.1\n", argv[0]);
    std::exit(2);
  }

  /// How long to sleep for what counts as `time`.
  Clock::duration operator()(Milliseconds time) const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::milli>(time) * factor_);
  }

  /// What counts as the milliseconds since `start`.
  long since(Clock::time_point start) const {
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    return std::lround(elapsed.count() / factor_);
  }

 private:
  double factor_ = 1;
};
