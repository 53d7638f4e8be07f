// Plan: what one random program is, all of it derived from its seed. What the threads make of it
// differs from run to run; what the program does does not.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rouse::random_program {

using Micros = std::chrono::microseconds;

/// splitmix64. Each part of a program has one of its own.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// From 0 to n - 1.
  unsigned below(unsigned n) noexcept { return static_cast<unsigned>((next() >> 32U) * n >> 32U); }
  unsigned between(unsigned least, unsigned most) noexcept {
    return least + below(most - least + 1);
  }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }
  /// Short ones are as likely as long ones.
  Micros micros(unsigned most) noexcept { return Micros(below(most >> below(6)) + 1); }

 private:
  std::uint64_t state_;
};

enum class End { destructor, shutdown_timeout, shutdown_background, by_a_task };

class Plan {
 public:
  static constexpr std::size_t max_ops = 40;

  explicit Plan(std::uint64_t of_seed);

  std::uint64_t seed;
  unsigned workers;        ///< 0: current_thread
  unsigned other_workers;  ///< of a second runtime; 0: there is none
  bool finite;             ///< it must end by itself, once the channels are closed
  End end;
  Micros end_after;
  Micros other_end_after;
  Micros end_timeout;
  unsigned max_blocking;    ///< 0: as by default
  unsigned failing_thread;  ///< percent of the threads that can't be started
  unsigned budget;          ///< how many parts it may have
  unsigned roots;
  std::array<unsigned, max_ops> weights;  ///< of each kind of step

  [[nodiscard]] std::string text() const;
};

}  // namespace rouse::random_program
