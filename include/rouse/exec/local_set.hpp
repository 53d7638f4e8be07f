// LocalSet: tasks that stay on one thread, beside a runtime with many.
//
//   LocalSet set;
//   set.block_on(runtime, main_task());   // in there, and in the set's tasks:
//                                         //   spawn(...)        goes to the runtime
//                                         //   spawn_local(...)  stays on this thread
//
// The tasks of the set need not be thread-safe among each other. Their wakers and JoinHandles may
// be used from any thread: so they may await tasks of the runtime, and the other way round.
// A LocalSet belongs to one thread at a time. While nothing can go on, the thread sleeps.
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

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
  LocalSet();
  LocalSet(const LocalSet&) = delete;
  LocalSet& operator=(const LocalSet&) = delete;
  /// Destroys the tasks that are left; their joins report cancellation.
  ~LocalSet();

  /// A task of the set: it runs inside block_on and run_until. See exec/spawner.hpp.
  template <class F>
  auto spawn_local(F&& work, std::source_location where = std::source_location::current()) {
    return spawn_on(scheduler(), where, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn_local(Fn&& fn, Arg&& arg, Args&&... args) {
    return spawn_on(scheduler(), {}, std::forward<Fn>(fn), std::forward<Arg>(arg),
                    std::forward<Args>(args)...);
  }

  /// Runs `future` and the tasks of the set on this thread until `future` is done; tasks that are
  /// left then go on with the next call. `spawn` puts tasks on `runtime`; those of a current-thread
  /// runtime run on this thread, too, in turns with the set's, unless another thread is in its
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

  /// The same without a runtime: `spawn` puts tasks into the set, too.
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
  auto run(Scheduler& spawns_on, F&& future, std::source_location where) -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "LocalSet runs a rouse::Future: did you pass a function instead of calling it? "
                  "write f() instead of f");
    if constexpr (is_future) {
      get_ready(spawns_on);  // first: once the task is there, nothing may keep this from running it
      auto main = spawn_local(ByReference(future), where);
      run_while([&] { return !main.is_finished(); }, spawns_on);
      Context cx(Waker::noop());
      return main.poll(cx).value();  // ready: takes the result
    }
  }

  Scheduler& scheduler() const noexcept;
  void get_ready(Scheduler& spawns_on);
  void run_while(const std::function<bool()>& more, Scheduler& spawns_on) noexcept;

  RefPtr<LocalCore> core_;
};

}  // namespace rouse
