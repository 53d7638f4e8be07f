// TimerDriver: what a thread that runs tasks also drives: its timers. `exec` knows only this
// interface; a runtime supplies it, one per worker. (I/O is driven through a Park, which all
// workers share.) A worker checks its driver every `event_interval` polls and before it sleeps, and
// sleeps no longer than the driver says.
//
// TimerDrivers: where an executor gets them from, and what applies to threads of the runtime
// without one of their own: those in a blocking call, or outside under `Runtime::enter`.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/pool_metrics.hpp"

namespace rouse::internal {

/// Ends the current or the next sleep of one executor thread. Any thread, while the executor lives.
class Unparker {
 public:
  using Fn = void (*)(void* executor) noexcept;
  constexpr Unparker(Fn unpark, void* executor) noexcept : unpark_(unpark), executor_(executor) {}
  void operator()() const noexcept { unpark_(executor_); }

 private:
  Fn unpark_;
  void* executor_;
};

/// What futures find on a thread: its timers and its reactor.
class ROUSE_API DriverContext {
 public:
  DriverContext() = default;
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;
  virtual ~DriverContext() = default;

  /// What a thread had before.
  struct Before {
    void* timers = nullptr;
    void* reactor = nullptr;
  };
  /// Makes this the context of this thread; gives the one there was, for `restore`.
  virtual Before enter() noexcept = 0;
  virtual void restore(Before before) noexcept = 0;
};

/// Belongs to one thread at a time.
class ROUSE_API TimerDriver : public DriverContext {
 public:
  /// Fires what is due; if that is much, some of it, and the rest with the next call. Gives how
  /// many timers fired.
  virtual std::size_t poll() noexcept = 0;
  /// The same on any thread, while the owner is in a long poll.
  virtual std::size_t poll_for_owner() noexcept = 0;

  /// How long the thread may sleep. `nothing_runs`: no task can run before something happens here,
  /// so that a paused clock may jump.
  virtual std::chrono::nanoseconds until_next(bool nothing_runs) noexcept = 0;
  /// From now on the same thread drives `other`, in turns with this one; null: none. If both use
  /// one clock and that is paused, it jumps no further than to the next deadline of either.
  /// TimerDrivers of one runtime use the same clock.
  virtual void set_beside(TimerDriver* other) noexcept = 0;
  /// TimerDrivers of one runtime go by the same.
  [[nodiscard]] virtual const void* clock() const noexcept = 0;
  /// Whether `nothing_runs` matters.
  [[nodiscard]] virtual bool is_paused() const noexcept = 0;

  /// No thread drives this any more: remaining waiters are woken, to wait elsewhere.
  virtual void close() noexcept = 0;
};

class ROUSE_API TimerDrivers : public RefCounted<TimerDrivers> {
 public:
  virtual ~TimerDrivers() = default;
  /// For one more thread, which `unpark` wakes. That thread owns it as long as it lives.
  virtual internal::Box<TimerDriver> make(Unparker unpark) = 0;
  /// For threads of the same runtime without a driver: the thread of the first driver drives what
  /// they wait for. Lives as long as this, and as that driver's executor.
  virtual DriverContext& shared_context() noexcept = 0;
  /// Any thread.
  virtual IoMetrics io_metrics() const noexcept = 0;
};

/// While it lives this thread has this context; null: the one it had.
class WithDriverContext {
 public:
  explicit WithDriverContext(DriverContext* now) noexcept
      : now_(now), before_(now ? now->enter() : DriverContext::Before()) {}
  WithDriverContext(const WithDriverContext&) = delete;
  WithDriverContext& operator=(const WithDriverContext&) = delete;
  ~WithDriverContext() {
    if (now_) now_->restore(before_);
  }

 private:
  DriverContext* const now_;
  const DriverContext::Before before_;
};

}  // namespace rouse::internal
