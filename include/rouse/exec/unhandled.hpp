// What happens to an exception of a task that nobody joins.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/core/exception_trace.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse {

/// An exception of a task that nobody joins.
class UnhandledException {
 public:
  /// `task_name` may be null.
  UnhandledException(TaskId task_id, std::source_location where, std::exception_ptr thrown,
                     const char* task_name = nullptr)
      : id(task_id),
        name(task_name ? task_name : ""),
        spawned_at(where),
        exception(std::move(thrown)),
        trace(trace_of(exception)) {}
  TaskId id;                        ///< of the task
  std::string name;                 ///< see task::Builder; empty if it has none
  std::source_location spawned_at;  ///< where the task was spawned
  std::exception_ptr exception;     ///< what it threw
  /// The coroutines that it left, the one that threw first: see core/exception_trace.hpp.
  std::vector<std::source_location> trace;
};

/// Must not throw. Empty: some lines to stderr.
using UnhandledHook = Function<void(const UnhandledException&)>;

namespace internal {

/// Calls the hook, or prints the lines.
ROUSE_API void report_unhandled(const UnhandledHook& hook,
                                const UnhandledException& unhandled) noexcept;
/// A line for each place of a trace.
ROUSE_API void append_trace(std::string& text, const std::vector<std::source_location>& trace);

}  // namespace internal

}  // namespace rouse
