// Which sanitizer a test is built with: they slow tests down, and forbid a few.
#pragma once

#include "rouse/base/internal/attributes.hpp"

namespace rouse::test {

using namespace internal;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#else
inline constexpr bool thread_sanitizer = false;
#endif

inline constexpr bool sanitized = thread_sanitizer || address_sanitizer;

}  // namespace rouse::test
