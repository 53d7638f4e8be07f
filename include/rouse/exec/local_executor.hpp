// LocalExecutor: runs tasks on one thread, without atomic read-modify-writes on the local path.
// Its tasks need not be thread-safe; wakers, JoinHandles and Spawners may be used from any thread.
// It sleeps when nothing is to be polled and uses no CPU then.
#pragma once

#include <exception>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/driver.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/pool_metrics.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse {

class BlockingOptions;
class LocalCore;

/// Polls a future that stays where it is.
template <Future F>
class ByReference {
 public:
  using Output = output_t<F>;
  explicit ByReference(F& future) noexcept : future_(future) {}
  Poll<Output> poll(Context& cx) { return future_.poll(cx); }

 private:
  F& future_;
};

class ROUSE_API LocalExecutor : public SpawnMembers<LocalExecutor> {
 public:
  LocalExecutor();
  /// Waits with `park`, which must outlive the executor, instead of just sleeping.
  explicit LocalExecutor(Park& park);
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;
  /// Destroys the tasks that are left; their joins report cancellation.
  ~LocalExecutor();

  /// See exec/spawner.hpp. From the thread that uses this executor; others take a `spawner()`.
  using SpawnMembers::spawn;

  [[nodiscard]] Spawner spawner() const;

  /// Runs until no task is left.
  void run();

  /// Runs until `future` is done; other tasks stay as they are then. Throws what it throws.
  template <class F>
  auto run_until(F&& future, std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "run_until needs a rouse::Future: did you pass a function instead of calling it? "
                  "write run_until(f())");
    if constexpr (is_future) {
      get_ready();  // first: once the task is there, nothing may keep this from running it
      auto main = spawn(ByReference(future), where);
      run_while([&] { return !main.is_finished(); });
      Context cx(Waker::noop());
      return main.poll(cx).value();  // ready: takes the result
    }
  }

  /// Called, on the thread of the executor, with an exception that left a task nobody joins. Must
  /// not throw. Default, and once the executor is gone: one line to stderr.
  void on_unhandled(UnhandledHook hook);

  /// Tasks that are not done. From the thread that uses this executor.
  [[nodiscard]] std::size_t live_tasks() const noexcept;
  /// As of a pool with one worker. Any thread.
  [[nodiscard]] PoolMetrics metrics() const;

  /// Gives it threads for blocking calls: spawn_blocking inside its tasks goes there. The
  /// executor's end closes that pool and does not wait for calls that run.
  void add_blocking_pool(const BlockingOptions& options);
  /// Gives it timers. Without, it takes those of the runtime that is entered where it is run first.
  void set_drivers(RefPtr<Drivers> drivers);
  [[nodiscard]] Scheduler& scheduler() const noexcept;

 private:
  void get_ready();
  void run_while(const std::function<bool()>& more) noexcept;

  RefPtr<LocalCore> core_;
};

}  // namespace rouse
