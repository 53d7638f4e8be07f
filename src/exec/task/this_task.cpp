#include "rouse/exec/this_task.hpp"

#include "exec/task/current.hpp"

namespace rouse::task {

using namespace internal;

TaskId id() noexcept { return this_thread.task ? this_thread.task->id() : 0; }

std::string_view name() noexcept {
  const TaskHeader* task = this_thread.task;
  const char* given = task ? task->name() : nullptr;
  return given ? std::string_view(given) : std::string_view();
}

}  // namespace rouse::task
