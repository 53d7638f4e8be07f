// LocalExecutor: runs tasks on one thread, without atomic read-modify-writes on the local path. Its
// tasks need not be thread-safe; wakers, JoinHandles and Spawners may be used from any thread. When
// there is nothing to poll, it sleeps and uses no CPU.
#pragma once

#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/exec/internal/timer_driver.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/exec/pool_metrics.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse {

class ThreadPoolOptions;

class BlockingOptions;

namespace internal {

class LocalCore;

/// What a thread blocks on, without its type: a future that stays where it is, and its outcome.
class BlockedFuture {
 public:
  struct Type {
    const sight::Shape* shape;                        // of `future`
    bool (*poll)(BlockedFuture&, Context&) noexcept;  // true: the outcome is there
  };
  BlockedFuture(const Type& its_type, void* what, const Frame* frame) noexcept
      : type(&its_type), future(what), coroutine(frame) {}
  ROUSE_SHAPE(BlockedFuture, nullptr, erased, &BlockedFuture::type, &BlockedFuture::future)
  const Type* const type;
  void* const future;
  const Frame* const coroutine;  // if that is what the future is
};

template <Future F>
class BlockedOn : public BlockedFuture {
 public:
  explicit BlockedOn(F& what) noexcept : BlockedFuture(its_type, &what, frame_of(what)) {}
  output_t<F> take() { return outcome_.take(); }

 private:
  static bool poll_future(BlockedFuture& blocked, Context& cx) noexcept {
    auto& self = static_cast<BlockedOn&>(blocked);
    try {
      auto poll = static_cast<F*>(self.future)->poll(cx);
      if (poll.is_pending()) return false;
      if constexpr (std::is_void_v<output_t<F>>) {
        self.outcome_.set_value();
      } else {
        self.outcome_.set_value(std::move(poll).value());
      }
    } catch (...) {
      self.outcome_.set_current_exception();
    }
    return true;
  }

  static constexpr Type its_type{&shape_of<F*>, poll_future};
  Outcome<output_t<F>> outcome_;
};

/// Polls it in a task.
class ByReference {
 public:
  using Output = void;
  explicit ByReference(BlockedFuture& future) noexcept : future_(&future) {}
  Poll<void> poll(Context& cx) {
    if (!future_->type->poll(*future_, cx)) return pending;
    return Poll<void>::ready();
  }
  ROUSE_SHAPE(ByReference, nullptr, one, &ByReference::future_)
  const Frame* frame() const noexcept { return future_->coroutine; }

 private:
  BlockedFuture* future_;
};

/// While it lives this thread alone runs the executor. Not inside a task.
class ROUSE_API LocalOwner {
 public:
  LocalOwner(LocalCore& core, const char* call) noexcept;
  LocalOwner(const LocalOwner&) = delete;
  LocalOwner& operator=(const LocalOwner&) = delete;
  ~LocalOwner();

 private:
  LocalCore& core_;
};

}  // namespace internal

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

  /// Runs until `future` is done; the other tasks keep their state. Throws what it throws.
  template <class F>
  auto run_until(F&& future, std::source_location where = std::source_location::current())
      -> output_or_void_t<F> {
    constexpr bool is_future = Future<std::remove_reference_t<F>>;
    static_assert(is_future,
                  "run_until needs a rouse::Future: did you pass a function instead of calling it? "
                  "write run_until(f())");
    if constexpr (is_future) {
      internal::BlockedOn blocked(future);
      run_until_ready(blocked, where);
      return blocked.take();
    }
  }

  /// The same without the type. Throws only if it was cancelled.
  void run_until_ready(internal::BlockedFuture& future, std::source_location where);

  /// Called on the executor's thread with an exception of a task that nobody joins. Must not throw.
  /// Default, and once the executor is gone: one line to stderr.
  void on_unhandled(UnhandledHook hook);

  /// Tasks that are not done.
  /// Threads: the one that uses this executor.
  [[nodiscard]] std::size_t live_tasks() const noexcept;
  /// As of a pool with one worker.
  /// Threads: any.
  [[nodiscard]] PoolMetrics metrics() const;

  /// Adds threads for blocking calls: spawn_blocking inside its tasks uses them. The executor's
  /// destructor closes that pool and does not wait for running calls.
  void add_blocking_pool(const BlockingOptions& options);
  /// Adds timers. Without this it uses those of the runtime that is entered where it first runs.
  void set_drivers(RefPtr<internal::TimerDrivers> drivers);
  /// Takes the hooks of parks and tasks. Before there are tasks.
  void set_hooks(const ThreadPoolOptions& options);
  [[nodiscard]] internal::Scheduler& scheduler() const noexcept;

 private:
  RefPtr<internal::LocalCore> core_;
};

}  // namespace rouse
