#include "exec/task/observe.hpp"

#include <bit>

#include "rouse/core/internal/frame.hpp"

#include "base/recorder.hpp"
#include "exec/task/current.hpp"

namespace rouse::internal {
namespace {

using recorder::What;

std::uint64_t tag_here() noexcept {
  const TaskHeader* const task = this_thread.task;
  return task == nullptr ? 0 : task->tag();
}

std::uint64_t word_of(const std::source_location* where) noexcept {
  return where == nullptr ? 0 : std::bit_cast<std::uint64_t>(*where);
}

}  // namespace

void record_spawn(const TaskHeader& task) noexcept {
  record_now(What::spawn, task.tag(), std::bit_cast<std::uint64_t>(task.spawned_at), tag_here());
  if (const char* name = task.name()) recorder::record_task_name(task.tag(), name);
}
void record_wake(const TaskHeader& task) noexcept {
  record_now(What::wake, task.tag(), tag_here(), 0);
}
void record_cancel(const TaskHeader& task) noexcept { record_now(What::cancel, task.tag(), 0, 0); }

void record_poll(std::uint64_t ticks, const TaskHeader& task) noexcept {
  const Frame* const root = task.frame();
  record_at(ticks, What::poll, task.tag(), word_of(root == nullptr ? nullptr : &root->where()), 0);
}

void record_poll_end(std::uint64_t ticks, const TaskHeader& task, bool has_ended,
                     bool woke_itself) noexcept {
  const Frame* const root = has_ended ? nullptr : task.frame();
  const auto how = has_ended     ? recorder::is_ended
                   : woke_itself ? recorder::is_woken
                                 : recorder::is_pending;
  record_at(ticks, What::poll_end, task.tag(),
            word_of(root == nullptr ? nullptr : root->stopped_at()), how);
}

}  // namespace rouse::internal
