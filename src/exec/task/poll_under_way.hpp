// PollUnderWay: what can be seen, from any thread, of a poll that may last: which thread makes it,
// and how to know that it is the same still. PolledBy: which thread polls the tasks of a worker or
// a LocalCore. It is written only where a thread begins or ends to do so; a poll pays nothing.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

#include "exec/task/counter.hpp"
#include "sys/thread.hpp"

namespace rouse::internal {

class PolledBy {
 public:
  /// This thread polls from now on.
  void begin() noexcept {
    if constexpr (!model_checker) thread_.store(sys::this_thread_id(), memory_order_relaxed);
  }
  /// Nobody does.
  void end() noexcept {
    if constexpr (!model_checker) thread_.store(0, memory_order_relaxed);
  }
  /// 0: nobody.
  sys::ThreadId thread() const noexcept { return thread_.load(memory_order_relaxed); }

 private:
  atomic<sys::ThreadId> thread_{0};
};

struct PollUnderWay {
  const void* of;          ///< the Worker or LocalCore
  const TaskHeader* task;  ///< not to be read; null: nobody knows
  const Counter* polls;    ///< a poll begins with a step of it
  std::uint64_t number;    ///< what it said
  sys::ThreadId thread;
};

class PollVisitor {
 public:
  virtual void see(const PollUnderWay& poll) noexcept = 0;

 protected:
  ~PollVisitor() = default;
};

}  // namespace rouse::internal
