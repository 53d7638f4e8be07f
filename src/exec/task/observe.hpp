// What is recorded of tasks (base/recorder.hpp). A poll is recorded in the loop that watches polls
// (worker_watch.hpp): the plain one does not even ask.
#pragma once

#include <cstdint>
#include <source_location>

#include "rouse/base/internal/recording.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

[[gnu::cold]] void record_spawn(const TaskHeader& task) noexcept;
[[gnu::cold]] void record_wake(const TaskHeader& task) noexcept;
[[gnu::cold]] void record_cancel(const TaskHeader& task) noexcept;

// Before others can have it: then it may be gone.
inline void note_spawn(const TaskHeader& task) noexcept {
  if (is_recording()) [[unlikely]]
    record_spawn(task);
}
inline void note_wake(const TaskHeader& task) noexcept {
  if (is_recording()) [[unlikely]]
    record_wake(task);
}
inline void note_cancel(const TaskHeader& task) noexcept {
  if (is_recording()) [[unlikely]]
    record_cancel(task);
}

/// A poll began, and has ended, then: PollWatch knows when.
[[gnu::cold]] void record_poll(std::uint64_t ticks, const TaskHeader& task) noexcept;
[[gnu::cold]] void record_poll_end(std::uint64_t ticks, const TaskHeader& task, bool has_ended,
                                   bool woke_itself) noexcept;

}  // namespace rouse::internal
