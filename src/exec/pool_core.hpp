// PoolCore: the scheduler inside a ThreadPool. It outlives the pool while threads, wakers, handles
// or spawners refer to it or to its tasks.
//
// A task is in one place at a time: with the worker that polls it, in one queue (a worker's own, or
// the injection queue), or idle, known only to its wakers. Every unfinished task is also in a
// table: of the worker that spawned it, or, if it came from outside, in the shared one.
//
// Shutdown: `close` marks the pool; each worker leaves its loop at its next look. The last one
// closes the queues and cancels every task that is in a table; what others still want to wake,
// abort or spawn is dropped. Threads that gave their worker away (block_in_place) may still be
// running a task each, and wait for others that are cancelled now: their own tasks are spared,
// until the last of these threads has left.
//
// References: see SharedScheduler. Workers count the tasks they make and free by themselves; until
// the last thread has left and the two are added up, `refs_` holds `bias` more, so it can't reach
// zero early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rouse/exec/thread_pool.hpp"

#include "exec/deadline.hpp"
#include "exec/idle_workers.hpp"
#include "exec/injection_queue.hpp"
#include "exec/shared_scheduler.hpp"
#include "exec/stall_watch.hpp"
#include "exec/worker.hpp"

namespace rouse {

class PoolCore final : public SharedScheduler {
 public:
  explicit PoolCore(ThreadPoolConfig config);

  void submit(TaskHeader& task) override;
  BlockingPool* blocking_pool() noexcept override { return &threads_; }
  Drivers* drivers() noexcept override { return config_.drivers.get(); }

  /// Starts a thread for each worker. If that fails the pool can only be shut down.
  Result<void> start();
  /// The rest of this poll runs without the worker, which another thread goes on with.
  void give_worker_away();
  /// The same; false if there is no memory for it.
  bool try_give_worker_away() noexcept;
  /// True: all tasks and threads are gone.
  bool shutdown(std::chrono::nanoseconds timeout) noexcept;

  PoolMetrics metrics() const;
  /// Aborts with a hint in a forked child, where the workers' threads do not exist.
  void refuse_in_forked_child() const noexcept;

  /// A task that no worker has yet. Any thread.
  void inject(TaskHeader& task) noexcept;

 private:
  static constexpr std::int64_t bias = std::int64_t{1} << 40;
  /// So many tasks a worker takes at most at once from the injection queue.
  static constexpr std::size_t max_injected = 64;

  void enqueue(TaskHeader& task, Turn turn) noexcept override;
  void forget(TaskHeader& task) noexcept override;
  void freed() noexcept override;

  /// The worker that this thread is, if it is one of this pool.
  Worker* own_worker() const noexcept {
    Worker* worker = this_thread.worker;
    return worker != nullptr && &worker->pool == this ? worker : nullptr;
  }

  void run_worker(Worker& worker) noexcept;
  TaskHeader* next_task(Worker& worker);
  void look_around(Worker& worker);
  TaskHeader* take_injected(Worker& worker, std::size_t max);
  TaskHeader* find_work(Worker& worker);
  TaskHeader* search(Worker& worker);
  TaskHeader* steal(Worker& thief);
  bool sleep(Worker& worker, bool was_searching);
  bool begin_watch(Worker& worker) noexcept;
  void help_stuck(Worker& helper) noexcept;
  void leave_watch(Worker& worker) noexcept;
  bool is_work_left() const noexcept;
  void drive(Worker& worker) noexcept;
  void hand_out_io(Worker& worker) noexcept;
  void driven(Worker& worker) noexcept;
  std::chrono::nanoseconds time_to_sleep(Worker& worker) noexcept;
  bool nothing_runs() noexcept;

  void keep(TaskHeader& task);
  void wake_one() noexcept;
  static void forked(void* pool) noexcept;
  static void unpark_worker(void* worker) noexcept;
  Result<void> start_thread(Worker& worker);
  void close() noexcept;
  bool wait_closed(const Deadline& deadline) noexcept;
  void leave_away(TaskHeader& task, bool is_done) noexcept;
  void loop_ended() noexcept;
  void thread_left() noexcept;
  void cancel_tasks() noexcept;

  bool is_closing() const noexcept { return closing_.load(memory_order_relaxed); }

  const ThreadPoolConfig config_;
  std::vector<std::unique_ptr<Worker>> workers_;
  IdleWorkers idle_;
  StallWatch watch_;
  InjectionQueue injected_;
  DriverSeat driver_;
  atomic<bool> closing_{false};
  const std::uint32_t forks_before_;  // sys::fork_count when this was made
  atomic<std::size_t> loops_;         // workers that are run or will be
  atomic<std::size_t> inside_;  // threads that run a worker, or a task that gave its worker away
  Mutex away_mutex_;
  std::vector<const TaskHeader*> away_;  // those tasks
  bool sweeping_ = false;                // from now on none is taken off the list

  // Tasks from outside.
  Mutex outside_mutex_;
  TaskTable outside_;
  bool refuses_ = false;                  // spawned from now on: cancelled at once
  atomic<TaskHeader*> refused_{nullptr};  // what stands for the slot of such a task
  atomic<std::uint64_t> outside_spawned_{0};
  atomic<std::uint64_t> outside_completed_{0};

  Mutex closed_mutex_;
  CondVar closed_signal_;
  bool closed_ = false;

  BlockingPool threads_;
};

}  // namespace rouse
