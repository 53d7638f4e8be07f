// Who frees a task: whoever drops the last reference to it. The scheduler has one until the task is
// complete, its JoinHandle one until it is detached or joined, each waker one.
//  - Of a task of a thread pool, and of a blocking call: the thread that took the count to zero
//    (SharedScheduler::drop_ref, wake_task).
//  - Of a thread-bound task: its own thread (LocalCore::drop_ref), which is told of references that
//    others drop. After the executor has closed: who drops the last (LocalCore::post_to_closed).
#pragma once

#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

/// Gives the memory back; the outcome was taken or dropped before. No one may refer to it.
inline void free_task(TaskHeader& task) noexcept { task.vtable.free(task); }

}  // namespace rouse::internal
