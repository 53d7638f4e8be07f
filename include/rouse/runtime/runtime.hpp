// Runtime: everything that a program needs to run tasks: an executor, timers, I/O, and a pool for
// blocking calls.
//
//   rouse::Runtime rt;                                   // a worker for each CPU
//   rt.block_on(async_main());
//
//   auto rt = rouse::Runtime::builder().worker_threads(4).thread_name("io").build();
//   auto rt = rouse::Runtime::builder().current_thread().build();
//
// A Runtime is a movable value. Its destructor shuts it down: it waits for polls in progress,
// destroys every task, and waits for blocking calls that have begun.
// Threads: its const members may be called from any thread; moving it, shutting it down, and
// block_on with current_thread from one thread at a time, while no other uses it. (Spawners and
// JoinHandles may be used at any time.)
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/enter_guard.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/thread_pool.hpp"

namespace rouse {

class RuntimeBuilder;

/// Read while the runtime works: each figure is correct at some moment, not all at the same.
class RuntimeMetrics : public PoolMetrics {
 public:
  RuntimeMetrics() noexcept = default;
  BlockingMetrics blocking;  ///< of the threads for blocking calls
  IoMetrics io;              ///< of its sockets and the like
};

class ROUSE_API Runtime : public SpawnMembers<Runtime> {
 public:
  /// One worker thread per CPU that the process may use. Throws std::system_error if the threads
  /// can't be started.
  Runtime();
  /// For settings other than the defaults.
  static RuntimeBuilder builder();

  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  /// Shuts the runtime down and waits, however long it takes. Not inside a task: use
  /// shutdown_background() there. (A task or blocking call may call std::exit: then a static
  /// Runtime is not shut down, and its tasks are not destroyed.)
  ~Runtime();

  /// Runs a future to completion and returns its result; throws what it throws. A worker polls the
  /// future, so `parallel` and `spawn` in it are as fast as anywhere (with current_thread: this
  /// thread polls it, together with the other tasks).
  /// Threads: any that is not inside a task; with current_thread one at a time.
  template <class F>
  auto block_on(F&& future, std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "Runtime::block_on needs a rouse::Future: did you pass a function instead of "
                  "calling it? write rt.block_on(f())");
    if constexpr (is_future) {
      internal::BlockedOn blocked(future);
      run_until_ready(blocked, where);
      return blocked.take();
    }
  }

  /// See exec/spawner.hpp.
  /// Threads: any. With current_thread the task runs only while some thread is in block_on, or in
  /// LocalSet::block_on beside this.
  using SpawnMembers::spawn;
  /// See exec/blocking_pool.hpp.
  /// Threads: any.
  template <class Fn, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn_blocking(Fn&& fn, Arg&& arg = std::source_location::current(),
                                             Args&&... args) const {
    return blocking_pool().spawn(std::forward<Fn>(fn), std::forward<Arg>(arg),
                                 std::forward<Args>(args)...);
  }
  [[nodiscard]] Spawner spawner() const;

  /// While the guard lives, `rouse::spawn` and `rouse::spawn_blocking` on this thread use this
  /// runtime, and what this thread blocks on (rouse::block_on, a LocalExecutor) may sleep and wait
  /// for sockets. With current_thread the runtime drives these only while some thread is in its own
  /// block_on; until then they wait.
  [[nodiscard("leaving is what the guard's destructor does: keep it in a variable")]] EnterGuard
  enter() const;

  /// Shuts the runtime down, and waits for that at most this long: polls and blocking calls in
  /// progress then run on, and the tasks are destroyed when they return. (If polls block all
  /// workers and no thread can be started, the other tasks are destroyed only when one of these
  /// polls returns. A LocalSet that runs a current_thread runtime on another thread first completes
  /// the polls it is in, however long they take.) True: nothing is left. Not inside a task.
  /// Afterwards this counts as moved from; a second call returns true.
  bool shutdown_timeout(std::chrono::nanoseconds timeout);
  /// Shuts the runtime down without waiting; what is left is destroyed as after a shutdown_timeout
  /// that has passed. Allowed inside its own tasks, except with current_thread, whose tasks are
  /// then on the stack of block_on.
  void shutdown_background() { shutdown_timeout(std::chrono::nanoseconds(0)); }

  [[nodiscard]] RuntimeMetrics metrics() const;
  [[nodiscard]] internal::Scheduler& scheduler() const noexcept;

 private:
  friend class RuntimeBuilder;
  struct Parts;
  explicit Runtime(internal::Box<Parts> parts) noexcept;

  void abandon() noexcept;
  Parts& parts() const noexcept;
  void run_until_ready(internal::BlockedFuture& future, std::source_location where);
  BlockingPool& blocking_pool() const noexcept;

  internal::Box<Parts> parts_;
};

/// Settings of a runtime before it is built. Each has a sensible default.
class ROUSE_API RuntimeBuilder {
 public:
  RuntimeBuilder();

  /// The number of threads that poll tasks. Default: the number of CPUs that the process may use
  /// (its affinity, and the quota of its cgroup).
  RuntimeBuilder& worker_threads(std::size_t count);
  /// No worker threads: tasks are polled inside `block_on`, on the thread that calls it.
  RuntimeBuilder& current_thread();
  /// The name of workers and blocking threads; the system shows the first 15 bytes. Default:
  /// "rouse".
  RuntimeBuilder& thread_name(std::string name);
  /// Default: the system's.
  RuntimeBuilder& thread_stack_size(std::size_t bytes);
  /// Called on each thread that the runtime starts, first and last. Must not throw.
  RuntimeBuilder& on_thread_start(Function<void()> hook);
  /// As on_thread_start, last on each thread.
  RuntimeBuilder& on_thread_stop(Function<void()> hook);
  /// Called on a worker (with current_thread: on the thread in block_on) before it goes to sleep,
  /// and when it has slept. Must not throw, and should be short.
  RuntimeBuilder& on_thread_park(Function<void()> hook);
  /// As on_thread_park, after the sleep.
  RuntimeBuilder& on_thread_unpark(Function<void()> hook);
  /// Called for each task, also the one of a block_on, before it may run: on the thread that spawns
  /// it, with current_thread maybe on the one in block_on. Not for spawn_blocking. Must not throw.
  RuntimeBuilder& on_task_spawn(TaskHook hook);
  /// Called for each task that on_task_spawn was called for, on the thread that ends it: its future
  /// is destroyed, it completed, threw or was cancelled, and who joins it is not told yet.
  RuntimeBuilder& on_task_terminate(TaskHook hook);
  /// Called with an exception of a task that nobody joins, on the thread where that is found out.
  /// Must not throw. Default: one line to stderr.
  RuntimeBuilder& on_unhandled(UnhandledHook hook);
  /// The maximum number of threads besides the workers: in spawn_blocking, in block_in_place, or
  /// idle. One of them is reserved for spawn_blocking. Default: 512.
  RuntimeBuilder& max_blocking_threads(std::size_t count);
  /// The maximum number of spawn_blocking calls waiting for a thread; more fail. Default: 2^20.
  RuntimeBuilder& max_blocking_queue(std::size_t count);
  /// How long an idle blocking thread stays. Default: 10 seconds.
  RuntimeBuilder& blocking_keep_alive(std::chrono::nanoseconds time);
  /// How many polls a busy worker makes before it checks the injection queue. Default: 61.
  RuntimeBuilder& global_queue_interval(unsigned polls);
  /// How many polls a busy worker makes before it checks I/O and timers. Default: 61; a
  /// current_thread runtime always uses 61.
  RuntimeBuilder& event_interval(unsigned polls);
  /// The clock stands still from the start: see time/pause.hpp. For tests; with current_thread or
  /// one worker.
  RuntimeBuilder& start_paused();

  /// Throws std::invalid_argument if a setting makes no sense, saying which and what to use
  /// instead; and std::system_error if the threads can't be started.
  [[nodiscard]] Runtime build() const;

 private:
  void check() const;

  std::size_t workers_ = 0;
  bool workers_set_ = false;
  bool stack_size_set_ = false;
  bool current_thread_ = false;
  bool start_paused_ = false;
  ThreadPoolOptions options_;
};

}  // namespace rouse
