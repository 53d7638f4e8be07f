#include "sys/backoff.hpp"

#include <algorithm>
#include <ctime>
#include <sched.h>

namespace rouse::sys {

void back_off(unsigned attempt) noexcept {
  constexpr unsigned yields = 8;
  if (attempt < yields) {
    ::sched_yield();
    return;
  }
  constexpr long shortest = 4'000;
  constexpr long longest = 1'000'000;
  const timespec time{0, std::min(longest, shortest << std::min(attempt - yields, 8U))};
  ::nanosleep(&time, nullptr);  // a signal ends it early: the caller looks again anyway
}

}  // namespace rouse::sys
