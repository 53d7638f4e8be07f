// Runtime: all that a program needs to run tasks: an executor, timers, and a pool for blocking
// calls.
//
//   rouse::Runtime rt;                                   // a worker for each CPU
//   rt.block_on(async_main());
//
//   auto rt = rouse::Runtime::builder().worker_threads(4).thread_name("io").build();
//   auto rt = rouse::Runtime::builder().current_thread().build();
//
// A Runtime is a value that may be moved. Destroying it ends it: polls under way come to their end,
// every task is destroyed, and blocking calls that have begun are waited for.
// Its const members may be called from any thread; moving it, ending it, and block_on with
// current_thread from one thread at a time, while no other uses it. (Spawners and JoinHandles may
// be used whenever you like.)
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/enter.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/thread_pool.hpp"

namespace rouse {

class RuntimeBuilder;

/// Read while the runtime works: each figure is right at some moment, not all at the same.
class RuntimeMetrics : public PoolMetrics {
 public:
  RuntimeMetrics() noexcept = default;
  BlockingMetrics blocking;
};

class ROUSE_API Runtime : public SpawnMembers<Runtime> {
 public:
  /// A worker thread for each CPU that the process may use. Throws std::system_error if the threads
  /// can't be started.
  Runtime();
  static RuntimeBuilder builder();

  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  /// Ends the runtime and waits for that, however long it takes. Not inside a task: there say
  /// shutdown_background(). (A task or blocking call may call std::exit: a static Runtime is left
  /// as it is then, and its tasks are not destroyed.)
  ~Runtime();

  /// Runs a future to its end and gives its result; throws what it throws. The future is polled on
  /// a worker, so `parallel` and `spawn` in it are as fast as anywhere (with current_thread: on
  /// this thread, together with the other tasks). Any thread that is not inside a task; with
  /// current_thread one at a time.
  template <class F>
  auto block_on(F&& future, std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "Runtime::block_on needs a rouse::Future: did you pass a function instead of "
                  "calling it? write rt.block_on(f())");
    if constexpr (is_future) {
      refuse_to_block("Runtime::block_on");
      if (LocalExecutor* local = local_executor()) return local->run_until(future, where);
      ThreadWaker thread;  // first: once the task is there, nothing may keep this from waiting
      auto task = spawn(ByReference(future), where);
      return block_on_with(thread, task);
    }
  }

  /// See exec/spawner.hpp. Any thread. With current_thread the task runs only while some thread is
  /// in block_on.
  using SpawnMembers::spawn;
  /// See exec/blocking_pool.hpp. Any thread.
  template <class Fn>
  auto spawn_blocking(Fn&& fn, std::source_location where = std::source_location::current()) const {
    return blocking_pool().spawn(std::forward<Fn>(fn), where);
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn_blocking(Fn&& fn, Arg&& arg, Args&&... args) const {
    return blocking_pool().spawn(std::forward<Fn>(fn), std::forward<Arg>(arg),
                                 std::forward<Args>(args)...);
  }
  [[nodiscard]] Spawner spawner() const;

  /// While the guard lives, `rouse::spawn` and `rouse::spawn_blocking` on this thread go here, and
  /// what this thread blocks on (rouse::block_on, a LocalExecutor) may sleep and wait for sockets.
  /// With current_thread these are looked after only while some thread is in the runtime's own
  /// block_on: what blocks elsewhere waits for that.
  [[nodiscard("leaving is what the guard's destructor does: keep it in a variable")]] Enter enter()
      const;

  /// Ends the runtime, waiting for that at most so long: what still runs then (a poll, a blocking
  /// call) goes on by itself, and the tasks are destroyed when it returns. True: all is gone. Not
  /// inside a task. Afterwards this is as good as moved from; a second call gives true.
  bool shutdown_timeout(std::chrono::nanoseconds timeout);
  /// Ends the runtime without waiting. Also inside its own tasks, except with current_thread, whose
  /// tasks are on the stack of block_on then.
  void shutdown_background() { shutdown_timeout(std::chrono::nanoseconds(0)); }

  [[nodiscard]] RuntimeMetrics metrics() const;
  [[nodiscard]] Scheduler& scheduler() const noexcept;

 private:
  friend class RuntimeBuilder;
  struct Parts;
  explicit Runtime(std::unique_ptr<Parts> parts) noexcept;

  void abandon() noexcept;
  Parts& parts() const noexcept;
  LocalExecutor* local_executor() const noexcept;
  BlockingPool& blocking_pool() const noexcept;

  std::unique_ptr<Parts> parts_;
};

/// What may be said about a runtime before it is made. Each setting has a sensible default.
class ROUSE_API RuntimeBuilder {
 public:
  RuntimeBuilder();

  /// How many threads poll tasks. Default: the CPUs that the process may use (its affinity, and the
  /// quota of its cgroup).
  RuntimeBuilder& worker_threads(std::size_t count);
  /// No worker threads: tasks are polled inside `block_on`, on the thread that calls it.
  RuntimeBuilder& current_thread();
  /// Of workers and blocking threads; the system shows the first 15 bytes. Default: "rouse".
  RuntimeBuilder& thread_name(std::string name);
  /// Default: what the system gives.
  RuntimeBuilder& thread_stack_size(std::size_t bytes);
  /// Called on each thread that the runtime starts, first and last. Must not throw.
  RuntimeBuilder& on_thread_start(std::function<void()> hook);
  RuntimeBuilder& on_thread_stop(std::function<void()> hook);
  /// Called with an exception that left a task nobody joins, on the thread where that is found out.
  /// Must not throw. Default: one line to stderr.
  RuntimeBuilder& on_unhandled(UnhandledHook hook);
  /// Threads besides the workers: in spawn_blocking, in block_in_place, or idle. One of them is
  /// left for spawn_blocking. Default: 512.
  RuntimeBuilder& max_blocking_threads(std::size_t count);
  /// Calls of spawn_blocking that may wait for a thread; more fail. Default: 2^20.
  RuntimeBuilder& max_blocking_queue(std::size_t count);
  /// How long a blocking thread without work stays. Default: 10 seconds.
  RuntimeBuilder& blocking_keep_alive(std::chrono::nanoseconds time);
  /// So many polls of a worker may pass before it looks at tasks that came from outside.
  /// Default: 61.
  RuntimeBuilder& global_queue_interval(unsigned polls);
  /// So many polls of a worker may pass before it looks at its timers. Default: 61.
  RuntimeBuilder& event_interval(unsigned polls);
  /// The clock stands still from the start: see time/pause.hpp. For tests; with current_thread or
  /// one worker.
  RuntimeBuilder& start_paused();

  /// Throws std::invalid_argument if a setting makes no sense, saying which and what would; and
  /// std::system_error if the threads can't be started.
  [[nodiscard]] Runtime build() const;

 private:
  void check() const;

  std::size_t workers_ = 0;
  bool workers_set_ = false;
  bool stack_size_set_ = false;
  bool current_thread_ = false;
  bool start_paused_ = false;
  ThreadPoolConfig config_;
};

}  // namespace rouse
