// Where the program was when an assertion failed: which task this thread polls, and its awaits.
#include "base/assert_context.hpp"

#include <source_location>
#include <string>

#include "rouse/core/internal/frame.hpp"
#include "rouse/exec/internal/task_header.hpp"

#include "exec/task/current.hpp"
#include "exec/task/place.hpp"

namespace rouse::internal {
namespace {

constexpr unsigned most_awaits = 24;

void append_task(std::string& text, const TaskHeader& task) {
  text.append("\n  in task ").append(std::to_string(task.id()));
  if (const char* name = task.name()) text.append(" \"").append(name).append("\"");
  const std::source_location spawned_at = task.spawned_at.source();
  if (spawned_at.line() != 0) append_place(text.append(", spawned at "), spawned_at);
}

void append_awaits(std::string& text, const Frame& root) {
  text += "\n  its awaits, the last first:";
  unsigned count = 0;
  root.visit_chain([&](const Frame& frame) {
    if (++count <= most_awaits) append_place(text.append("\n    "), frame.where());
  });
  if (count > most_awaits) {
    text.append("\n    and ").append(std::to_string(count - most_awaits)).append(" more");
  }
}

void append_context(std::string& text) {
  const TaskHeader* task = this_thread.task;
  if (task != nullptr) append_task(text, *task);
  const Frame* root = task != nullptr ? task->frame() : this_thread.blocked_on;
  if (root != nullptr) append_awaits(text, *root);
}

}  // namespace

void tell_assertions_of_tasks() noexcept { append_assert_context = append_context; }

}  // namespace rouse::internal
