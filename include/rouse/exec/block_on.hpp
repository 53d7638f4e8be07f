// block_on: runs one future on this thread, which sleeps while the future is pending. Needs no
// executor.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/internal/box.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/frame.hpp"
#include "rouse/exec/internal/timer_driver.hpp"

namespace rouse {

namespace internal {

/// A waker that ends this thread's `wait`. It may outlive this object.
class ROUSE_API ThreadWaker {
 public:
  /// For one who polls `coroutine`, which is for messages and may be null.
  explicit ThreadWaker(const Frame* coroutine);
  ThreadWaker(const ThreadWaker&) = delete;
  ThreadWaker& operator=(const ThreadWaker&) = delete;
  ~ThreadWaker();
  /// Ends the sleep of the thread.
  [[nodiscard]] const Waker& waker() const noexcept { return waker_; }
  /// Sleeps until the waker is woken; a wake since the last wait counts. May return early (spurious
  /// wake).
  void wait();

 private:
  Waker waker_;
  internal::Box<internal::TimerDriver> driver_;  // inside a runtime: its timers
  internal::WithDriverContext driver_context_;
  const Frame* const outer_;  // the coroutine of a block_on further out
};

/// Aborts with a message when called inside a task, where it would block the executor.
ROUSE_API void refuse_to_block(const char* call) noexcept;
/// Whether a task that this thread polls called std::exit: it will never return.
ROUSE_API bool is_exiting_inside_task() noexcept;

/// The future's result, awaited by `thread`, which is this one.
template <Future F>
output_t<F> block_on_with(ThreadWaker& thread, F& future) {
  for (;;) {
    // A budget, as for a task: without one, a future that is always ready would starve its own
    // timeout.
    Context cx(thread.waker(), Context::task_budget);
    auto poll = future.poll(cx);
    if (poll.is_ready()) return std::move(poll).value();
    thread.wait();
  }
}

}  // namespace internal

/// The future's result; throws what it throws. Not inside a task: co_await there.
template <class F>
auto block_on(F&& future) -> output_or_void_t<F> {
  constexpr bool is_future = Future<std::remove_reference_t<F>>;
  static_assert(is_future,
                "block_on needs a rouse::Future: did you pass a function instead of calling it? "
                "write block_on(f())");
  if constexpr (is_future) {
    internal::refuse_to_block("block_on");
    internal::ThreadWaker thread(internal::frame_of(future));
    return internal::block_on_with(thread, future);
  }
}

}  // namespace rouse
