// Counter: a number that is changed by one thread at a time (its only writer, or under a lock) and
// read by any. Changing it costs a plain load and store.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"

namespace rouse::internal {

class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { set(get() + n); }
  void subtract(std::uint64_t n = 1) noexcept { set(get() - n); }
  void set(std::uint64_t value) noexcept { value_.store(value, memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(memory_order_relaxed); }

 private:
  atomic<std::uint64_t> value_{0};
};

}  // namespace rouse::internal
