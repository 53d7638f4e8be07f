// Calls that a signal interrupts are made again.
#pragma once

#include <cerrno>
#include <system_error>

namespace rouse::sys {

template <class Call>
auto retry_interrupted(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

inline std::error_code last_error() noexcept { return {errno, std::system_category()}; }

}  // namespace rouse::sys
