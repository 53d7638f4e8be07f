// Random times that are the same in every run and cost next to nothing.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

class Random {
 public:
  std::uint64_t next() {  // xorshift64
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::chrono::nanoseconds between(std::chrono::nanoseconds low, std::chrono::nanoseconds high) {
    const auto range = static_cast<std::uint64_t>((high - low).count());
    return low + std::chrono::nanoseconds(next() % range);
  }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace bench
