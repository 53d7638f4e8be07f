// Whether what happens is recorded: the one thing that places which record nothing have to know.
// See src/base/recorder.hpp.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {

#if __STDC_HOSTED__
/// The number of the recording; 0: there is none. Hidden, so that the library itself reads it with
/// one load.
[[gnu::visibility("hidden")]] extern atomic<std::uint32_t> recording;
/// Whether there is one, for programs.
extern ROUSE_API atomic<bool> spans_are_recorded;

/// For the library: a load and a branch. Models record nothing.
/// ORDER: acquire; sees what the clock of ticks is worth.
[[nodiscard]] inline bool is_recording() noexcept {
  if constexpr (model_checker) return false;
  return recording.load(memory_order_acquire) != 0;
}
/// For templates. ORDER: as above.
[[nodiscard]] inline bool are_spans_recorded() noexcept {
  if constexpr (model_checker) return false;
  return spans_are_recorded.load(memory_order_acquire);
}
/// What a task waits for, or has waited for: a lock, or permits.
void record_lock_wait(std::uint32_t task_tag, const void* lock) noexcept;
void record_lock_got(std::uint32_t task_tag, const void* lock) noexcept;
#else
[[nodiscard]] constexpr bool is_recording() noexcept { return false; }
inline void record_lock_wait(std::uint32_t, const void*) noexcept {}
inline void record_lock_got(std::uint32_t, const void*) noexcept {}
#endif

}  // namespace rouse::internal
