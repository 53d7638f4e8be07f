// BlockingCore: the scheduler inside a BlockingPool. It lives until the pool, its threads and its
// tasks are gone.
//
// A call is a task that is active from birth to completion (it is never pending, so nobody wakes
// it): it is in the queue, or on a thread. One mutex guards everything else; no foreign code is
// called under it.
//
// No call is left behind: whoever queues one wakes an idle thread or starts one, unless all are
// busy; and a thread becomes idle, or ends, only after it saw the queue empty, under the lock. A
// call wakes the thread that became idle last, so that unneeded threads are idle long enough to
// end. So `close` may leave the mandatory calls in the queue: a thread is on its way to them.
//
// A thread that ends leaves its handle in `ended_`, where the next one that ends, or `wait`, joins
// it: after `wait` no thread is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <system_error>
#include <vector>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/exec/blocking_pool.hpp"

#include "exec/task/examinable.hpp"
#include "exec/task/shared_scheduler.hpp"
#include "exec/task/task_list.hpp"
#include "sys/thread.hpp"

namespace rouse::internal {

class BlockingCore final : public SharedScheduler, public Examinable {
 public:
  using Job = Function<void()>;
  /// How a thread is started; a test may have it fail. Called under the lock.
  using StartThread = std::function<Result<sys::Thread>(const sys::ThreadOptions&, Job)>;

  BlockingCore(BlockingOptions options, Scheduler* owner,
               StartThread start_thread = sys::Thread::start);
  ~BlockingCore() override;

  // Scheduler: any thread.
  void submit(TaskHeader& task) override { accept(task, false); }

  // Examinable.
  void examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) override;
  void examine_at_once(std::span<const TaskId>, TaskVisitor&) override {}
  void release_examined() noexcept override { release(); }
  SchedulerMetrics figures() const noexcept override;

  // BlockingPool.
  bool submit_mandatory(TaskHeader& task) { return accept(task, true); }
  Result<void> run_thread(const Job& job);
  Result<void> replace_thread(const Job& job);
  void close() noexcept;
  bool wait(std::chrono::nanoseconds timeout);
  BlockingMetrics metrics() const noexcept;
  bool is_idle() noexcept;

 private:
  using Threads = std::list<sys::Thread>;

  /// A thread that waits for work, on its own stack.
  struct Idle {
    CondVar called;
    bool is_called = false;
    Job job;  // empty: look at the queue
  };

  /// A call that a thread runs, for an examiner: the task may be freed before the thread comes
  /// back. On its stack.
  struct Call : internal::RingLink {
    explicit Call(const TaskHeader& task) noexcept;
    const TaskId id;
    const SpawnPlace spawned_at;
    char name[32];
  };

  bool try_add_ref() noexcept override { return try_add_ref_to(refs_); }
  // SharedScheduler.
  void enqueue(TaskHeader& task, Turn turn) noexcept override;
  void untrack(TaskHeader&) noexcept override {}

  bool accept(TaskHeader& task, bool is_mandatory);

  // Under the lock.
  std::error_code find_thread();
  std::exception_ptr admit(TaskHeader& task);
  void call_idle(Job job);
  Result<void> start_thread(const Job& job);
  Result<void> find_thread_for(const Job& job);
  bool is_full() const noexcept { return threads_.get() + replaced_.get() >= options_.max_threads; }
  bool is_own_thread() const noexcept;

  // A thread's life. Those that take the lock let go of it while they run foreign code; they
  // give false when the thread is to end.
  void thread_main(Threads::iterator self, Job job) noexcept;
  bool run_calls(Lock& lock, Job& next_job);
  bool run_job(Lock& lock, Job& job);
  bool wait_for_work(Lock& lock, Job& next_job);
  void end_thread(Threads::iterator self) noexcept;

  void run_call(TaskHeader& task) noexcept;

  const BlockingOptions options_;
  const StartThread start_thread_;
  Scheduler* const owner_;  // each call that is queued or runs holds a reference to it

  Mutex mutex_;
  CondVar all_ended_;
  bool closed_ = false;
  TaskList queue_;
  std::size_t promised_ = 0;  // threads that were called or started, and will look at the queue
  std::vector<Idle*> idle_;   // the one that became idle last is at the end
  Counter idle_count_;
  Counter calls_;  // that were accepted
  // Together at most `max_threads`; those that run jobs do not count. One is always left for calls:
  // a call that was queued must not wait for a thread that may wait for the call.
  Counter threads_;   // that run calls or wait for one
  Counter replaced_;  // that left their job to another
  RingHead running_;  // of Calls
  Threads live_;
  Threads ended_;  // to be joined
};

}  // namespace rouse::internal
