// The table by which tools/rouse-debug and debuggers find the tasks of a process in its memory, or
// in its core file. It is made in src/sight/debug_layout.cpp.
#pragma once

#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

struct DebugLayout;
extern "C" {
// It is a constant: NOLINTNEXTLINE(bugprone-dynamic-static-initializers)
extern ROUSE_API const DebugLayout rouse_debug_layout;
}

/// Who calls this has the table in the program, also where the library is static and what nobody
/// refers to is left out.
inline void keep_debug_layout() noexcept { asm volatile("" : : "r"(&rouse_debug_layout)); }

}  // namespace rouse::internal
