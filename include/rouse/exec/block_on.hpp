// block_on: runs one future on this thread, which sleeps while the future waits. Needs no executor.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/exec/driver.hpp"

namespace rouse {

/// A waker that ends this thread's `wait`. It may outlive this object.
class ROUSE_API ThreadWaker {
 public:
  ThreadWaker();
  ThreadWaker(const ThreadWaker&) = delete;
  ThreadWaker& operator=(const ThreadWaker&) = delete;
  ~ThreadWaker();
  [[nodiscard]] const Waker& waker() const noexcept { return waker_; }
  /// Sleeps until the waker is woken; a wake since the last wait counts. May return early.
  void wait();

 private:
  Waker waker_;
  std::unique_ptr<Driver> driver_;  // inside a runtime: its timers
  WithSurroundings surroundings_;
};

/// Aborts with a hint when called inside a task, where it would block the executor.
ROUSE_API void refuse_to_block(const char* call) noexcept;
/// Whether a task that this thread polls called std::exit: it will never return.
ROUSE_API bool is_exiting_inside_task() noexcept;

/// The future's result, awaited by `thread`, which is this one.
template <Future F>
output_t<F> block_on_with(ThreadWaker& thread, F& future) {
  for (;;) {
    // A budget, as a task has: without, what is ready again and again would keep its own timeout
    // from being looked after.
    Context cx(thread.waker(), Context::task_budget);
    auto poll = future.poll(cx);
    if (poll.is_ready()) return std::move(poll).value();
    thread.wait();
  }
}

/// The future's result; throws what it throws. Not inside a task: co_await there.
template <class F>
auto block_on(F&& future) -> output_or_void_t<F> {
  constexpr bool is_future = Future<std::remove_reference_t<F>>;
  static_assert(is_future,
                "block_on needs a rouse::Future: did you pass a function instead of calling it? "
                "write block_on(f())");
  if constexpr (is_future) {
    refuse_to_block("block_on");
    ThreadWaker thread;
    return block_on_with(thread, future);
  }
}

}  // namespace rouse
