// The names of resources (sight/name.hpp), for a dump.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/thread.hpp"
#include "rouse/sight/name.hpp"

#include "sight/arena.hpp"

namespace rouse::sight {

/// All that there are. Made when it is first needed, in `names_place`, and never destroyed: static
/// objects may be named.
struct Names {
  static constexpr std::size_t buckets = 1024;

  Mutex mutex;
  Named* first[buckets] = {};  // by what is named: the newest of those in a bucket

  Named*& first_of(const void* resource) noexcept {
    return first[reinterpret_cast<std::uintptr_t>(resource) * 0x9e3779b97f4a7c15 >> 54];
  }
};
static_assert(Names::buckets == 1 << (64 - 54));
extern char names_place[];  // for the table of debug_layout.cpp

inline constexpr std::size_t longest_name = 256;

/// Null: it has none.
const char* copy_name_of(const void* resource, Arena& arena) noexcept;

}  // namespace rouse::sight
