// The names of resources (sight/name.hpp), for a dump.
#pragma once

#include <cstddef>

#include "rouse/base/thread.hpp"
#include "rouse/sight/name.hpp"

#include "sight/arena.hpp"

namespace rouse::sight {

/// All that there are. Made when it is first needed, in `names_place`, and never destroyed: static
/// objects may be named.
struct Names {
  Mutex mutex;
  Named* first = nullptr;
};
extern char names_place[];  // for the table of debug_layout.cpp

inline constexpr std::size_t longest_name = 256;

/// Null: it has none.
const char* copy_name_of(const void* resource, Arena& arena) noexcept;

}  // namespace rouse::sight
