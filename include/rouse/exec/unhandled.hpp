// What becomes of an exception that leaves a task nobody joins.
#pragma once

#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <utility>

#include "rouse/exec/task_header.hpp"

namespace rouse {

/// An exception that left a task nobody was joining.
class UnhandledException {
 public:
  /// `task_name` may be null.
  UnhandledException(TaskId task_id, std::source_location where, std::exception_ptr thrown,
                     const char* task_name = nullptr)
      : id(task_id),
        name(task_name ? task_name : ""),
        spawned_at(where),
        exception(std::move(thrown)) {}
  TaskId id;
  std::string name;  ///< see task::Builder; empty if it has none
  std::source_location spawned_at;
  std::exception_ptr exception;
};

/// Must not throw. Empty: one line to stderr.
using UnhandledHook = std::function<void(const UnhandledException&)>;

/// Calls the hook, or prints the line.
ROUSE_API void report_unhandled(const UnhandledHook& hook,
                                const UnhandledException& unhandled) noexcept;

}  // namespace rouse
