// The sys seam, what the system calls a thread. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rouse::sys {

/// Of the thread that asks.
struct ThreadName {
  static constexpr std::size_t room = 16;
  std::uint32_t id;
  char name[room];  ///< ends with a zero
};
ThreadName this_thread_name() noexcept;

}  // namespace rouse::sys
