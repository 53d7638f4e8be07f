// The task that is running: its number and its name. For logs: a line says which task wrote it.
#pragma once

#include <string_view>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::task {

/// The same as its JoinHandle's `id()`; 0 outside of tasks. True also while a task is cancelled.
ROUSE_API TaskId id() noexcept;

/// What task::Builder named the running task; empty if it has no name, and outside of tasks.
/// Good until the task ends.
ROUSE_API std::string_view name() noexcept;

}  // namespace rouse::task
