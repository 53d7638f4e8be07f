// What the backend's system calls have in common: errno as a value, and EINTR.
//
// The calls of the hot path (recv, send, epoll_wait) are points where a thread may be cancelled; in
// a program with threads glibc makes two read-modify-writes more for each. Nobody cancels our
// threads, so there they are called without. Sanitizers want to see what is read and written, so
// with them it is the usual functions.
#pragma once

#include <cerrno>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "rouse/base/result.hpp"

namespace rouse::sys {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(thread_sanitizer) ||
                                  __has_feature(address_sanitizer) ||
                                  __has_feature(memory_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

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
