// A clock that a test can pause: hours of sleep pass at once, in the same order every time.
//
//   time::pause();
//   co_await sleep(24h);          // all tasks sleep: the clock jumps to the next deadline
//   co_await time::advance(1h);   // moves the clock although tasks could run
//   time::resume();               // from there on it runs with the system's clock
//
// A paused clock stands still while any task can run or a blocking call runs. Once all tasks wait,
// it jumps to the next deadline. Sleeps fire in the order of their deadlines, rounded to ticks (1
// ms), and within a tick in the order in which they began.
//
// For runtimes that run tasks on one thread: current_thread(), or worker_threads(1). Each runtime
// has its own clock. A task that waits for something outside of the runtime (a socket, another
// thread) does not stop the clock from jumping. A sleep outside of the runtime's own tasks (in a
// LocalSet, in a block_on under Runtime::enter, or in a blocking call) does not make it jump: it
// waits until `advance`, or a sleep of one of the runtime's tasks, moves the clock there. But the
// sleeps of a LocalSet count, too, while its thread runs the tasks of a current-thread runtime.
#pragma once

#include "rouse/base/internal/durations.hpp"
#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::time {

/// Stops the clock of this runtime, at the next full tick; does nothing if it is already paused.
/// RuntimeBuilder::start_paused does it before the first task runs.
/// Threads: a task of a runtime with one thread; aborts with a message elsewhere.
ROUSE_API void pause() noexcept;
/// Resumes the clock, from the time it shows.
/// Threads: as `pause`.
ROUSE_API void resume() noexcept;
/// Whether the clock of this runtime is paused.
/// Threads: any.
[[nodiscard]] ROUSE_API bool is_paused() noexcept;

/// Completes when the paused clock has advanced by this much, and all tasks that became due have
/// had a turn. It stops at each deadline on the way.
/// Cancel safety: if dropped midway, the clock stays where it is.
/// Threads: as `pause`.
/// Errors: none.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Advance {
 public:
  using Output = void;
  explicit Advance(Nanoseconds by) noexcept : by_(by) {}
  ROUSE_API Poll<void> poll(Context& cx);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Advance, "advance", turn)

 private:
  Nanoseconds by_;
  Instant target_{};
  bool has_begun_ = false;
  bool is_last_turn_ = false;
};

/// Zero or less: only lets the other tasks have a turn.
template <class Rep, class Period>
Advance advance(std::chrono::duration<Rep, Period> by) noexcept {
  return Advance(internal::saturate(by));
}

}  // namespace rouse::time
