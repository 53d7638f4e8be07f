#include "rouse/exec/this_task.hpp"

#include "exec/current.hpp"

namespace rouse::task {

TaskId id() noexcept { return this_thread.task ? this_thread.task->id() : 0; }

std::string_view name() noexcept {
  const TaskHeader* task = this_thread.task;
  const char* given = task ? task->vtable.name(*task) : nullptr;
  return given ? std::string_view(given) : std::string_view();
}

}  // namespace rouse::task
