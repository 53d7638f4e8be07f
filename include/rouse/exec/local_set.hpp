// LocalSet: tasks that stay on one thread, next to a runtime with many.
//
//   LocalSet set;
//   set.block_on(runtime, main_task());   // in there, and in the set's tasks:
//                                         //   spawn(...)        goes to the runtime
//                                         //   spawn_local(...)  stays on this thread
//
// The tasks of the set need not be thread-safe among each other. Their wakers and JoinHandles may
// be used from any thread: so they may await tasks of the runtime, and vice versa. When nothing can
// run, the thread sleeps. What the set waits for, timers and sockets, is of the runtime beside
// which it runs; a paused clock (time/pause.hpp) jumps for it only while it runs that runtime, too.
// exec/await_local_set.hpp runs a set inside a task.
// Threads: a LocalSet belongs to one thread at a time.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse {

/// Has a Spawner: a runtime, or an executor.
template <class R>
concept HasSpawner = requires(const R& runtime) {
  { runtime.spawner() } -> std::same_as<Spawner>;
};

class ROUSE_API LocalSet {
 public:
  class Turn;  // of a set that a task awaits: exec/await_local_set.hpp
  LocalSet();
  LocalSet(const LocalSet&) = delete;
  LocalSet& operator=(const LocalSet&) = delete;
  /// Destroys the tasks that are left; their joins report cancellation.
  ~LocalSet();

  /// A task of the set: it runs inside block_on and run_until. See exec/spawner.hpp.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn_local(F&& work, Arg&& arg = std::source_location::current(),
                                          Args&&... args) {
    return internal::spawn_as_written(scheduler(), internal::NoName(), std::forward<F>(work),
                                      std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// Runs `future` and the tasks of the set on this thread until `future` is done; the remaining
  /// tasks continue with the next call. `spawn` puts tasks on `runtime`. Those of a current-thread
  /// runtime also run on this thread, in turns with the set's, while no other thread is in its
  /// block_on. Throws what `future` throws. Not inside a task.
  template <class R, class F>
  auto block_on(const R& runtime, F&& future,
                std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    static_assert(HasSpawner<R>,
                  "LocalSet::block_on(runtime, future): the first argument is where `spawn` puts "
                  "tasks: a runtime, or anything that has `Spawner spawner() const`");
    if constexpr (HasSpawner<R>) {
      const Spawner spawner = runtime.spawner();
      return run(spawner.scheduler(), std::forward<F>(future), where);
    }
  }

  /// The same without a runtime: `spawn` also puts tasks into the set.
  template <class F>
  auto run_until(F&& future, std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    return run(scheduler(), std::forward<F>(future), where);
  }

  /// See LocalExecutor::on_unhandled.
  void on_unhandled(UnhandledHook hook);

  /// Tasks of the set that are not done. From the thread that uses it.
  [[nodiscard]] std::size_t live_tasks() const noexcept;

 private:
  template <class F>
  auto run(internal::Scheduler& spawns_on, F&& future, std::source_location where)
      -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "LocalSet runs a rouse::Future: did you pass a function instead of calling it? "
                  "write f() instead of f");
    if constexpr (is_future) {
      internal::BlockedOn blocked(future);
      run_until_ready(spawns_on, blocked, where);
      return blocked.take();
    }
  }

  internal::Scheduler& scheduler() const noexcept;
  void run_until_ready(internal::Scheduler& spawns_on, internal::BlockedFuture& future,
                       std::source_location where);

  RefPtr<internal::LocalCore> core_;
};

}  // namespace rouse
