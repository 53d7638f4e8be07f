// A clock that a test can pause: hours of sleep pass in no time, and in the same order every time.
//
//   time::pause();
//   co_await sleep(24h);          // all tasks sleep: the clock jumps to the next deadline
//   co_await time::advance(1h);   // the clock goes on although tasks could run
//   time::resume();               // from there on it goes with the system's again
//
// Paused, the clock stands still while any task can go on or a blocking call runs. Once all tasks
// wait it jumps to the next deadline: those who are due are woken in the order of their deadlines,
// to a tick (1 ms), within a tick in the order they began to sleep.
//
// For runtimes that run tasks on one thread: current_thread(), or worker_threads(1); it is the
// clock of that runtime alone. What waits for something outside of the runtime (a socket, another
// thread) does not keep the clock from jumping. And what sleeps beside the runtime's own tasks (in
// a LocalSet, in a block_on under Runtime::enter or in a blocking call) does not make it jump: it
// waits until `advance`, or a sleep of one of these tasks, takes the clock there.
#pragma once

#include <chrono>

#include "rouse/core/future.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::time {

/// Stops the clock of this runtime, at the next full tick. A paused one stays as it is. In a task
/// of a runtime with one thread; aborts with a hint elsewhere. RuntimeBuilder::start_paused does it
/// before the first task runs.
ROUSE_API void pause() noexcept;
/// Lets it go on, from the time it shows. The same threads.
ROUSE_API void resume() noexcept;
/// Whether the clock of this runtime is paused. Any thread.
[[nodiscard]] ROUSE_API bool is_paused() noexcept;

/// Completes when the clock, which is paused, has gone on by so much, and all who were due by then
/// have had a turn. It stops at each deadline on the way. Dropped midway, the clock stays where it
/// is then. The same threads as `pause`. No errors.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Advance {
 public:
  using Output = void;
  explicit Advance(Nanoseconds by) noexcept : by_(by) {}
  ROUSE_API Poll<void> poll(Context& cx);

 private:
  Nanoseconds by_;
  Instant target_{};
  bool has_begun_ = false;
  bool is_last_turn_ = false;
};

/// Zero or less: lets the others have a turn.
template <class Rep, class Period>
Advance advance(std::chrono::duration<Rep, Period> by) noexcept {
  return Advance(saturate(by));
}

}  // namespace rouse::time
