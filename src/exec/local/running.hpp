// LocalCore::Running: a thread runs the tasks of a LocalCore.
#pragma once

#include "rouse/exec/internal/task_local_node.hpp"

#include "exec/local/local_core.hpp"
#include "exec/task/current.hpp"

namespace rouse::internal {

/// The owner's thread inside the core. `spawn` puts tasks on `spawns_on`, which is the core itself
/// or a runtime beside which it runs.
class LocalCore::Running {
 public:
  explicit Running(LocalCore& core) noexcept : Running(core, core) {}
  Running(LocalCore& core, Scheduler& spawns_on) noexcept
      : core_(core), before_(this_thread), driver_context_(core.driver_.get()) {
    this_thread = ThreadContext();
    this_thread.pool = before_.pool;
    this_thread.child_polls = before_.child_polls;
    this_thread.scheduler = &spawns_on;
    this_thread.local = &core;
    this_thread.counters = &core.counters_;
    this_thread.outer = &before_;
    core.run_in_ = &this_thread;
  }
  ~Running() {
    core_.run_in_ = nullptr;
    this_thread = before_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  LocalCore& core_;
  const ThreadContext before_;
  const WithDriverContext driver_context_;
  const TaskLocalsScope no_task_locals_{nullptr};  // those of whoever runs this are not its tasks'
};

}  // namespace rouse::internal
