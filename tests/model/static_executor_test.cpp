// Models of StaticExecutor: wakes from other threads, which stand for interrupts and other cores,
// against its rounds.
#include "rouse/embedded/static_executor.hpp"

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// Ends the wait of an executor that has nothing to do. `kick` has no argument: one at a time.
Parker* sleeping = nullptr;
void kick() noexcept { sleeping->unpark(); }

/// A task that ends when it has seen all of its bits. They are relaxed: that they are seen in the
/// poll after the wake is the executor's business.
class Task {
 public:
  using Output = void;
  explicit Task(int bits) : missing_(bits) {}

  Poll<void> poll(Context& cx) {
    waker_ = cx.waker();
    polls_.write() += 1;
    return (published_.load(memory_order_relaxed) & missing_) == missing_ ? Poll<void>::ready()
                                                                          : Poll<void>(pending);
  }
  [[nodiscard]] Waker waker() const { return waker_; }
  void publish(int bit) { published_.fetch_or(bit, memory_order_relaxed); }

 private:
  const int missing_;
  atomic<int> published_{0};
  Waker waker_;
  Cell<int> polls_{0};  // one context alone
};

/// An interrupt that publishes something for the task, and wakes it.
Thread waking(Task& task, int bit) {
  return Thread([&task, bit, waker = task.waker()] {
    task.publish(bit);
    waker.wake_by_ref();
  });
}

template <std::size_t N>
void run(StaticExecutor<N>& executor, Parker& parker) {
  executor.run([&](const auto& ex) {
    if (!ex.needs_run()) parker.park();
  });
}

TEST(StaticExecutorModel, AWakeIsNotLostWheneverItComes) {
  check(
      [] {
        Parker parker;
        sleeping = &parker;
        StaticExecutor<1> executor(kick);
        Task task(1);
        ensure(executor.spawn(task));
        executor.run_once();
        Thread interrupt = waking(task, 1);
        run(executor, parker);
        interrupt.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(StaticExecutorModel, TwoWakesOfOneTaskAreBothSeen) {
  check([] {
    Parker parker;
    sleeping = &parker;
    StaticExecutor<1> executor(kick);
    Task task(3);
    ensure(executor.spawn(task));
    executor.run_once();
    Thread first = waking(task, 1);
    Thread second = waking(task, 2);
    run(executor, parker);
    first.join();
    second.join();
  });
}

TEST(StaticExecutorModel, WakesOfTwoTasksAreBothSeen) {
  check([] {
    Parker parker;
    sleeping = &parker;
    StaticExecutor<2> executor(kick);
    Task one(1);
    Task other(1);
    ensure(executor.spawn(one) && executor.spawn(other));
    executor.run_once();
    Thread first = waking(one, 1);
    Thread second = waking(other, 1);
    run(executor, parker);
    first.join();
    second.join();
  });
}

TEST(StaticExecutorModel, AWakeAfterTheTasksEndDoesNothing) {
  check([] {
    Parker parker;
    sleeping = &parker;
    StaticExecutor<1> executor(kick);
    Task task(1);
    ensure(executor.spawn(task));
    executor.run_once();
    Thread interrupt([&task, waker = task.waker()] {
      task.publish(1);
      waker.wake_by_ref();
      waker.wake_by_ref();
    });
    run(executor, parker);
    interrupt.join();
    executor.run_once();
    ensure(executor.live() == 0);
  });
}

}  // namespace
}  // namespace rouse::model
