// Watched mode: how long polls take, and how long tasks wait for theirs. It is for the whole
// process, on while somebody wants it. A thread that runs tasks looks at that between two of its
// batches of polls, and then notes each poll, in memory of its own (WorkerWatch). What it does not
// watch costs nothing.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

extern constinit atomic<std::uint32_t> watching_count;

/// ORDER: acquire; sees what the clock of ticks is worth.
inline bool is_watching() noexcept {
  if constexpr (model_checker) return false;
  return watching_count.load(memory_order_acquire) != 0;
}

/// While one lives, polls are watched. Any thread.
class Watching {
 public:
  Watching() noexcept;
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching();
};

}  // namespace rouse::internal
