// ROUSE_ASSERT: a broken contract aborts the program at once, saying what happened and what to do.
// It is on in every build: each use is one predictable branch.
#pragma once

#include "rouse/base/internal/attributes.hpp"

#if __STDC_HOSTED__
namespace rouse {
// The namespace keeps a model-checked build (ROUSE_MODEL) and a normal one from being linked
// together: nearly every header refers to this function.
#if defined(ROUSE_MODEL)
inline namespace model_checked {
#else
inline namespace native {
#endif
/// Prints `file:line: message` (with `name` and `detail` where given) to stderr and aborts.
[[noreturn]] ROUSE_API void assert_failed(const char* file, int line, const char* message,
                                          const char* name = nullptr,
                                          const char* detail = nullptr) noexcept;
}  // inline namespace
}  // namespace rouse

#define ROUSE_ASSERT(condition, ...) \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::rouse::assert_failed(__FILE__, __LINE__, __VA_ARGS__))
#else
// No operating system to tell: stop where a debugger or a watchdog sees it.
#define ROUSE_ASSERT(condition, ...) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : __builtin_trap())
#endif
