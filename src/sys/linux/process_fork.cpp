#include "sys/process_fork.hpp"

#include <pthread.h>

#include "rouse/base/atomic.hpp"

namespace rouse::sys {
namespace {

atomic<std::uint32_t> forks{0};

void in_the_child() noexcept { forks.fetch_add(1, memory_order_relaxed); }

}  // namespace

std::uint32_t process_forks() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, in_the_child);
  static_cast<void>(registered);
  return forks.load(memory_order_relaxed);
}

bool at_process_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  return pthread_atfork(before, in_parent, in_child) == 0;
}

}  // namespace rouse::sys
