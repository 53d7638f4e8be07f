// The hooks of a LocalExecutor, and those of a current-thread runtime.
#include "exec/local/local_core.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

void LocalCore::set_on_unhandled(UnhandledHook hook) { on_unhandled_ = std::move(hook); }

void LocalCore::adopt_specially(TaskHeader& task) noexcept {
  if (hooks_ && hooks_->on_task_spawn) hooks_->on_task_spawn(TaskMeta(task));
  if (closing_) task.local_state().cancel();
}

void LocalCore::tell_end(const TaskHeader& task) noexcept {
  if (hooks_->on_task_terminate) hooks_->on_task_terminate(TaskMeta(task));
}

void LocalCore::complete_hooked(TaskHeader& task) noexcept {
  tell_end(task);
  complete(task);
}

void LocalCore::set_hooks(const ThreadPoolOptions& options) {
  if (!options.on_thread_park && !options.on_thread_unpark && !options.on_task_spawn &&
      !options.on_task_terminate)
    return;
  hooks_ = std::make_unique<const ThreadPoolOptions>(options);
  adopts_specially_ = true;
}

void LocalCore::report(TaskHeader& task, std::exception_ptr error) noexcept {
  const auto hook = on_unhandled_;  // a copy: it may replace itself
  report_unhandled(
      hook, UnhandledException(task.id(), task.spawned_at.source(), std::move(error), task.name()));
}

}  // namespace rouse::internal
