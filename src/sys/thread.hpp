// The sys seam, threads that are given a name and a stack size, which the standard ones can't be.
// See src/sys/README.md.
#pragma once

#include <cstddef>
#include <functional>
#include <pthread.h>
#include <string>
#include <utility>

#include "rouse/base/result.hpp"

namespace rouse::sys {

struct ThreadOptions {
  std::string name = {};       ///< the first 15 bytes count; empty: the name of the starting thread
  std::size_t stack_size = 0;  ///< bytes, at least PTHREAD_STACK_MIN; 0: what the system gives
};

/// What the system calls a thread. Another one may have it when that has ended.
using ThreadId = int;
/// Of the thread that asks. Remembered, so it costs a load.
ThreadId this_thread_id() noexcept;

/// The least that a thread may be given.
std::size_t min_stack_size() noexcept;

/// A running thread: to be joined or detached before this is destroyed.
class Thread {
 public:
  /// Runs `body`, which must not throw, on a new thread. Errors: resource_unavailable_try_again
  /// (too many threads), invalid_argument (stack size), not_enough_memory. Signals stay as they
  /// are: the thread has the signal mask of the one that starts it.
  static Result<Thread> start(const ThreadOptions& options, std::function<void()> body) noexcept;

  Thread() noexcept = default;
  Thread(Thread&& other) noexcept
      : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
  Thread& operator=(Thread&& other) noexcept;
  /// Aborts if it is still joinable.
  ~Thread();

  [[nodiscard]] bool joinable() const noexcept { return joinable_; }
  /// Whether this is the thread that asks.
  [[nodiscard]] bool is_current() const noexcept;
  /// Waits for the thread's end.
  void join() noexcept;
  /// Lets the thread run on by itself.
  void detach() noexcept;
  /// In a forked child, which does not have the thread.
  void forget() noexcept { joinable_ = false; }

 private:
  explicit Thread(pthread_t handle) noexcept : handle_(handle), joinable_(true) {}

  pthread_t handle_{};
  bool joinable_ = false;
};

}  // namespace rouse::sys
