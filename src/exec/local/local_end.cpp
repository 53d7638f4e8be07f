// LocalCore, the end of its executor.
#include <climits>
#include <utility>

#include "rouse/exec/block_on.hpp"

#include "exec/local/running.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

/// For a static executor when a task calls std::exit: that task never returns. Nothing is
/// destroyed.
void LocalCore::abandon() noexcept {
  add_ref();
  set_park(own_park_);
}

void LocalCore::close() {
  if (is_exiting_inside_task() && !ownership_.is_free()) return abandon();
  ROUSE_ASSERT(!is_owner(),
               "a LocalExecutor was destroyed inside one of its own tasks: let run() return first");
  // Inside a turn of its guest the core itself is between two polls. It is owned for good: no guest
  // is lent it any more.
  if (!is_run_here() || this_thread.local != guest_ || !ownership_.take_from_guest()) own();
  // Called until the last task is gone, and destroyed when this thread is not the owner any more:
  // what it holds may wake or spawn.
  UnhandledHook last_hook;
  const Running running(*this);
  closing_ = true;
  adopts_specially_ = true;
  if (blocking_pool_) blocking_pool_->close();
  // Before tasks are counted: its wakers, too, refer to tasks that may have ended long ago.
  if (driver_) driver_->close();
  for (;;) {
    drain_inbox();
    for (TaskHeader* task : tasks_) {
      if (task->local_state().cancel()) queue_.push(*task);
    }
    while (!queue_.empty()) poll_up_to(UINT_MAX);
    this_thread.task = nullptr;
    const Lock lock(mutex_);
    if (inbox_first_) continue;
    closed_ = true;
    std::swap(last_hook, on_unhandled_);
    // What is left are finished tasks whose wakers or handles live on: each keeps this alive.
    refs_.fetch_add(allocated_, memory_order_relaxed);
    break;
  }
}

}  // namespace rouse::internal
