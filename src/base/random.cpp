#include "rouse/base/internal/random.hpp"

#include "rouse/base/atomic.hpp"

namespace rouse::internal {
namespace {

constinit thread_local std::uint32_t state = 0;
constinit atomic<std::uint32_t> threads{0};

/// Never 0, which xorshift does not leave: the factor is odd, and threads are counted from 1.
std::uint32_t seed() noexcept {
  return (threads.fetch_add(1, memory_order_relaxed) + 1) * 2654435761U;
}

}  // namespace

std::uint32_t random_below(std::uint32_t n) noexcept {
  if (model_checker) return 0;
  if (state == 0) [[unlikely]]
    state = seed();
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return static_cast<std::uint32_t>(std::uint64_t{state} * n >> 32);
}

}  // namespace rouse::internal
