// The linker sends rouse's calls of pthread_create here. (The standard library's threads, which
// belong to the test, are not in question.)
#include <atomic>
#include <cerrno>
#include <pthread.h>

#include "random/run.hpp"

namespace rouse::random_program {
namespace {

std::atomic<unsigned> failing{0};
std::atomic<std::uint64_t> next_choice{0};

bool fails() noexcept {
  const unsigned percent = failing.load(std::memory_order_relaxed);
  if (percent == 0) return false;
  return Rng(next_choice.fetch_add(1, std::memory_order_relaxed)).chance(percent);
}

}  // namespace

void fail_threads(unsigned percent, std::uint64_t seed) noexcept {
  next_choice.store(seed << 20U, std::memory_order_relaxed);
  failing.store(percent, std::memory_order_relaxed);
}

}  // namespace rouse::random_program

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument) {
  if (rouse::random_program::fails()) return EAGAIN;
  return __real_pthread_create(thread, attributes, body, argument);
}
// NOLINTEND(bugprone-reserved-identifier)
}
