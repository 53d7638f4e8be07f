// What this thread is doing: the one thread-local of exec. Only for functions that are not
// coroutines: a compiler may keep a thread-local's address across a suspension point.
#pragma once

#include <cstdint>

#include "rouse/core/context.hpp"
#include "rouse/exec/internal/scheduler.hpp"
#include "rouse/exec/internal/timer_driver.hpp"

namespace rouse::internal {

class ChildPoll;
class ForkDeque;
class Frame;
class LocalCore;
class PoolCore;
class Worker;
class WorkerCounters;

struct ThreadContext {
  Scheduler* scheduler = nullptr;      // where `spawn` puts a task
  LocalCore* local = nullptr;          // the LocalExecutor that this thread is running
  Worker* worker = nullptr;            // the worker of a ThreadPool that this thread is
  WorkerCounters* counters = nullptr;  // of the worker or the LocalExecutor that this thread is
  ForkDeque* forks = nullptr;          // that worker's
  // The pool whose tasks this thread runs, also after it gave its worker away: until it is done
  // with that, the pool lives.
  const Scheduler* pool = nullptr;
  PoolCore* sweeps = nullptr;  // whose tasks this thread destroys, unless it blocks in one of them
  bool is_replaced = false;    // another thread of the BlockingPool has this one's worker
  TaskHeader* task = nullptr;  // the task that is being polled or cancelled
  bool may_block = false;      // also inside a task: it is a blocking call (BlockingPool)
  const ChildPoll* child_polls = nullptr;  // in which this thread is, the innermost first
  const ThreadContext* outer = nullptr;    // where it began to run `local`
  const Frame* blocked_on = nullptr;       // what a block_on polls here, if that is a coroutine

  // Of a task that any thread may wake (SharedTaskState), while this thread polls it.
  Context* poll = nullptr;
  std::int64_t new_refs = 0;  // wakers made, less those dropped
  bool woke_itself = false;
};

extern constinit thread_local ThreadContext this_thread;

/// From now on a failed assertion names the task that fails it, and its awaits.
void tell_assertions_of_tasks() noexcept;

/// Has this thread notice when it ends or calls std::exit, which destroys its thread-locals before
/// static objects.
void notice_thread_end() noexcept;
bool thread_locals_are_gone() noexcept;

/// Stops the program: a BlockingRegion is still there after the poll that made it.
[[noreturn]] void refuse_to_outlive_its_poll() noexcept;

/// Of threads that belong to a scheduler but run no tasks for it; null if it has none.
DriverContext* shared_context_of(Scheduler* scheduler) noexcept;

}  // namespace rouse::internal
