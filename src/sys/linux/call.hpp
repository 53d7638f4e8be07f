// What the backend's system calls have in common: errno as a value, and EINTR.
#pragma once

#include <cerrno>
#include <system_error>

#include "rouse/base/result.hpp"

namespace rouse::sys {

inline std::error_code error_of(int error) noexcept { return {error, std::system_category()}; }
inline std::error_code last_error() noexcept { return error_of(errno); }

/// Calls until no signal interrupts it.
template <class Fn>
auto retry(Fn&& call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// A count of bytes, or the error.
template <class Fn>
Result<std::size_t> count_of(Fn&& call) noexcept {
  const auto result = retry(call);
  if (result < 0) return last_error();
  return static_cast<std::size_t>(result);
}

/// Nothing, or the error.
template <class Fn>
Result<void> done(Fn&& call) noexcept {
  if (retry(call) < 0) return last_error();
  return {};
}

}  // namespace rouse::sys
