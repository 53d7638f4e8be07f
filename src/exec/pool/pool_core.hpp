// PoolCore: the scheduler inside a ThreadPool. It outlives the pool while threads, wakers, handles
// or spawners refer to it or to its tasks.
//
// A task is in one place at a time: with the worker that polls it, in one queue (a worker's own, or
// the injection queue), or idle, known only to its wakers. Every unfinished task is also in a
// table: that of the worker that spawned it or, if it came from outside, the shared one.
//
// A thread that is about to block inside a poll (block_in_place, or the drop of a region whose
// child is polled elsewhere) hands its worker to another thread: the task is `away` until its poll
// ends (SharedTaskState). If no thread is available, it keeps the worker but leaves the queued
// tasks to the others, and `close` may take the worker from it.
//
// Shutdown (docs/design/0014-shutdown.md): `close` marks the pool; each worker's loop ends at its
// next look, or is given up by a thread that blocks. Then every task is ended, by exactly one:
//  - Once the last loop has ended nothing is queued, woken, aborted or spawned any more, and no
//    worker polls: a task is in a table and idle, or away, or a sweeper has it.
//  - Sweepers walk over the tables with one cursor, under `end_mutex_`, and cancel each task that
//    is not away, without the lock. A sweeper is a thread inside no poll. If the last one blocks in
//    a destructor, another is found.
//  - The thread of a task that is away ends its poll under the lock, and cancels the task itself if
//    the sweep has begun. A task is erased from its table under the lock, too, before it is freed,
//    so a sweeper may look at what it finds there.
//
// References: see SharedScheduler. Each worker counts the tasks it creates and frees; until the
// last thread has left and the two are added up, `refs_` holds `bias` more, so it can't reach zero
// early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rouse/exec/thread_pool.hpp"

#include "exec/park/deadline.hpp"
#include "exec/pool/idle_workers.hpp"
#include "exec/pool/injection_queue.hpp"
#include "exec/pool/stall_watch.hpp"
#include "exec/pool/worker.hpp"
#include "exec/task/examinable.hpp"
#include "exec/task/shared_scheduler.hpp"

namespace rouse::internal {

class PoolCore : public SharedScheduler, public Examinable {
 public:
  explicit PoolCore(ThreadPoolOptions options);
  ~PoolCore() override { withdraw(); }

  void submit(TaskHeader& task) override;
  BlockingPool* blocking_pool() noexcept final { return &threads_; }
  TimerDrivers* drivers() noexcept final { return options_.timer_drivers.get(); }

  /// Starts a thread for each worker. If that fails the pool can only be shut down.
  Result<void> start();

  /// This thread is about to block, for the rest of its poll or less: another one takes over its
  /// worker, or its sweep. Returns a worker that it keeps because no thread is available: pass it
  /// to `end_blocking`.
  static Worker* begin_blocking() noexcept;
  static void end_blocking(Worker* kept) noexcept;
  /// True: all tasks and threads are gone.
  bool shutdown(std::chrono::nanoseconds timeout) noexcept;

  PoolMetrics metrics() const;
  /// Aborts with a message after fork(2) in the child process, where the workers' threads do not
  /// exist.
  void refuse_in_forked_child() const noexcept;

  // Examinable: pool_examine.cpp.
  void examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) final;
  void examine_at_once(std::span<const TaskId> ids, TaskVisitor& visitor) final;
  void show_polls(PollVisitor& visitor) noexcept final;
  void release_examined() noexcept final { release(); }
  SchedulerMetrics figures() const noexcept final;
  std::size_t workers() const noexcept final { return workers_.size(); }
  WorkerMetrics worker(std::size_t index) const noexcept final;
  bool find_watch(std::size_t index, const WorkerWatch*& watch) const noexcept final;

  /// A task that no worker has yet. Any thread.
  void inject(TaskHeader& task) noexcept;

 protected:
  void untrack(TaskHeader& task) noexcept override;
  [[nodiscard]] const ThreadPoolOptions& options() const noexcept { return options_; }

 private:
  static constexpr std::int64_t bias = std::int64_t{1} << 40;
  /// The most tasks that a worker takes at once from the injection queue.
  static constexpr std::size_t max_injected = 64;

  class Examiner;
  class AtOnce;
  bool try_add_ref() noexcept final { return try_add_ref_to(refs_); }
  static PollUnderWay poll_of(const Worker& worker) noexcept;
  void end_examinations() noexcept;

  void enqueue(TaskHeader& task, Turn turn) noexcept final;
  [[gnu::noinline]] void enqueue_noted(TaskHeader& task, Turn turn) noexcept;
  void enqueue_here(Worker& worker, TaskHeader& task, Turn turn) noexcept;
  void end_poll_away(TaskHeader& task, bool is_ready) noexcept final;
  void end_watch_away(PollWatch& watch, const TaskHeader* task, bool ended) noexcept final;
  void freed() noexcept final;

  /// The worker that this thread is, if it is one of this pool.
  Worker* own_worker() const noexcept {
    Worker* worker = this_thread.worker;
    return worker != nullptr && &worker->pool == this ? worker : nullptr;
  }

  void keep(TaskHeader& task);
  void injected(bool is_accepted) noexcept;
  void wake_one() noexcept;
  static void branch_published(void* pool) noexcept;
  static void unpark_worker(void* worker) noexcept;
  Result<void> start_thread(Worker& worker);

  // worker_loop.cpp.
  void run_worker(Worker& worker) noexcept;
  TaskHeader* next_task(Worker& worker);
  [[gnu::noinline]] Ran run_observed(Worker& worker) noexcept;
  TaskHeader* next_observed_task(Worker& worker, PollWatch& watch);
  void look_around(Worker& worker);
  TaskHeader* take_injected(Worker& worker, std::size_t max);
  void drive(Worker& worker) noexcept;
  void dispatch_io(Worker& worker) noexcept;
  void driven(Worker& worker) noexcept;

  // pool_idle.cpp.
  TaskHeader* find_work(Worker& worker);
  TaskHeader* search(Worker& worker);
  void stop_search() noexcept;
  TaskHeader* steal(Worker& thief);
  bool sleep(Worker& worker, bool was_searching);
  bool begin_watch(Worker& worker) noexcept;
  void help_stuck(Worker& helper) noexcept;
  void leave_watch(Worker& worker) noexcept;
  std::chrono::nanoseconds time_to_sleep(Worker& worker) noexcept;
  bool nothing_runs() noexcept;
  bool is_work_left() const noexcept;

  // pool_end.cpp.
  bool part_with(Worker& worker) noexcept;
  bool hand_over(Worker& worker) noexcept;
  template <class Fn>
  bool start_inside(Fn start) noexcept;
  void take_back(Worker& worker) noexcept;
  void close() noexcept;
  void end_loop() noexcept;
  void leave(bool its_loop_ended) noexcept;
  void thread_left() noexcept;
  bool wait_closed(const Deadline& deadline) noexcept;
  void sweep(Lock& lock) noexcept;
  TaskHeader* next_to_sweep() noexcept;
  template <class Fn>
  void without(Lock& lock, Fn fn) noexcept;
  void find_sweeper(Lock& lock) noexcept;
  bool start_sweeper() noexcept;
  void close_drivers() noexcept;

  bool is_closing() const noexcept { return closing_.load(memory_order_relaxed); }
  bool is_ending() const noexcept override { return is_closing(); }

  const ThreadPoolOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  IdleWorkers idle_;
  StallWatch watch_;
  InjectionQueue injected_;
  IoSeat io_seat_;
  atomic<bool> closing_{false};
  const std::uint32_t process_forks_before_;  // sys::process_forks when this was made
  atomic<std::size_t> inside_{0};  // threads that run a worker, a task that is away, or a sweep

  // Tasks from outside.
  Mutex outside_mutex_;
  TaskTable outside_;
  bool refuses_ = false;                  // spawned from now on: cancelled at once
  atomic<TaskHeader*> refused_{nullptr};  // what stands for the slot of such a task
  atomic<std::uint64_t> outside_spawned_{0};
  atomic<std::uint64_t> outside_completed_{0};

  // The end. No foreign code is called under this lock, and of the other locks only those of the
  // two queues of tasks from outside are taken under it.
  Mutex end_mutex_;
  CondVar end_changed_;
  std::size_t loops_ = 0;     // workers that are run or will be
  bool is_sweeping_ = false;  // there are none
  bool are_drivers_closed_ = false;
  std::size_t swept_tables_ = 0;     // the sweep's cursor: of the workers in turn, then `outside_`
  TaskTable::Place swept_;           // in the next of them
  std::size_t sweepers_ = 0;         // threads that sweep or will, and do not block
  std::size_t sweeper_threads_ = 0;  // that were started only for that
  bool needs_sweeper_ = false;       // there is no thread for it: whoever waits for the end may
  std::size_t waiting_ = 0;          // threads that wait for the end, and may
  bool closed_ = false;

  Mutex away_mutex_;       // guards who writes there:
  WatchPlace away_watch_;  // polls whose thread lost its worker meanwhile

  Mutex examine_mutex_;               // while tasks are held; taken after the others
  bool is_examined_no_more_ = false;  // under it

  BlockingPool threads_;
};

}  // namespace rouse::internal
