// Driver: what a thread that runs tasks looks after besides them: its timers. `exec` knows only
// this much; a runtime supplies it, one for each worker. (I/O is looked after through a Park, which
// all workers share.) A worker looks at its driver every `event_interval` polls and before it
// sleeps, and sleeps no longer than the driver says.
//
// Drivers: where an executor gets them from, and what holds for threads of the runtime that have
// none of their own: those in a blocking call, or outside under `Runtime::enter`.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"

namespace rouse {

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

/// What futures find around them on a thread: which timers and which reactor are theirs.
class ROUSE_API Surroundings {
 public:
  Surroundings() = default;
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  virtual ~Surroundings();

  /// What a thread had before.
  struct Before {
    void* timers = nullptr;
    void* reactor = nullptr;
  };
  /// Makes these the surroundings of this thread; gives those there were, for `restore`.
  virtual Before enter() noexcept = 0;
  virtual void restore(Before before) noexcept = 0;
};

/// Belongs to one thread at a time.
class ROUSE_API Driver : public Surroundings {
 public:
  /// Wakes what is due; if that is much, some of it, and the rest with the next call.
  virtual void poll() noexcept = 0;
  /// The same on any thread, while the one it belongs to is long in coming.
  virtual void poll_for_owner() noexcept = 0;

  /// How long the thread may sleep. `nothing_runs`: no task can go on before something happens
  /// here, so that a paused clock may jump.
  virtual std::chrono::nanoseconds until_next(bool nothing_runs) noexcept = 0;
  /// Whether `nothing_runs` matters.
  [[nodiscard]] virtual bool is_paused() const noexcept = 0;

  /// No thread will look here any more: who still waits is woken, to wait elsewhere.
  virtual void close() noexcept = 0;
};

class ROUSE_API Drivers : public RefCounted<Drivers> {
 public:
  virtual ~Drivers();
  /// For one more thread, which `unpark` wakes. That thread owns it as long as it lives.
  virtual std::unique_ptr<Driver> make(Unparker unpark) = 0;
  /// For threads of the same runtime that have no driver: what they wait for is looked after by the
  /// thread of the driver made first. As long as this, and as that driver's executor.
  virtual Surroundings& outside() noexcept = 0;
};

/// While it lives this thread has these surroundings; null: those it had.
class WithSurroundings {
 public:
  explicit WithSurroundings(Surroundings* now) noexcept
      : now_(now), before_(now ? now->enter() : Surroundings::Before()) {}
  WithSurroundings(const WithSurroundings&) = delete;
  WithSurroundings& operator=(const WithSurroundings&) = delete;
  ~WithSurroundings() {
    if (now_) now_->restore(before_);
  }

 private:
  Surroundings* const now_;
  const Surroundings::Before before_;
};

}  // namespace rouse
