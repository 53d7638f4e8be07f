// Models of a whole ThreadPool: tasks from outside, wakes, its workers' sleep, and its end.
#include "rouse/exec/thread_pool.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

ThreadPoolOptions workers(std::size_t count) {
  ThreadPoolOptions config;
  config.workers = count;
  return config;
}

class AtOnce {
 public:
  using Output = Number;
  AtOnce() noexcept {}
  Poll<Number> poll(Context&) { return Poll<Number>::ready(42); }
};

/// Set once by another thread. That it is seen after the wake is the pool's business.
class Flag {
 public:
  void set() {
    is_set_.store(true, memory_order_relaxed);
    waker_.wake();
  }
  Poll<Number> poll(Context& cx) {
    waker_.register_waker(cx.waker());
    if (!is_set_.load(memory_order_relaxed)) return pending;
    return Poll<Number>::ready(42);
  }

 private:
  AtomicWaker waker_;
  atomic<bool> is_set_{false};
};

class WhenSet {
 public:
  using Output = Number;
  explicit WhenSet(Flag& flag) noexcept : flag_(&flag) {}
  Poll<Number> poll(Context& cx) { return flag_->poll(cx); }

 private:
  Flag* flag_;
};

/// 42, or -1 if it was cancelled.
int result_of(JoinHandle<Number>& handle) {
  try {
    return block_on(handle).value();
  } catch (const JoinError&) {
    return -1;
  }
}

TEST(ThreadPoolModel, ATaskFromOutsideIsRun) {
  check(
      [] {
        ThreadPool pool(workers(1));
        ensure(block_on(pool.spawn(AtOnce())).value() == 42);
      },
      {.preemption_bound = 2});
}

TEST(ThreadPoolModel, ATaskIsRunOrCancelledIfThePoolEnds) {
  check(
      [] {
        std::optional<JoinHandle<Number>> handle;
        {
          ThreadPool pool(workers(1));
          handle.emplace(pool.spawn(AtOnce()));
        }
        const int result = result_of(*handle);
        ensure(result == 42 || result == -1);
      },
      {.preemption_bound = 2});
}

TEST(ThreadPoolModel, OfTwoWorkersOneRunsTheTask) {
  check(
      [] {
        ThreadPool pool(workers(2));
        ensure(block_on(pool.spawn(AtOnce())).value() == 42);
      },
      {.preemption_bound = 2, .old_value_bound = 0});
}

TEST(ThreadPoolModel, AWakeFromOutsideIsNotLost) {
  check(
      [] {
        Flag flag;
        ThreadPool pool(workers(1));
        JoinHandle<Number> handle = pool.spawn(WhenSet(flag));
        flag.set();
        ensure(result_of(handle) == 42);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(ThreadPoolModel, AnAbortFromOutsideEndsTheTask) {
  check(
      [] {
        Flag never;
        ThreadPool pool(workers(1));
        JoinHandle<Number> handle = pool.spawn(WhenSet(never));
        handle.abort();
        ensure(result_of(handle) == -1);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(ThreadPoolModel, AWakerIsUsedWhileThePoolEnds) {
  check(
      [] {
        Flag flag;
        std::optional<ThreadPool> pool(std::in_place, workers(1));
        JoinHandle<Number> handle = pool->spawn(WhenSet(flag));
        Thread other([&] { flag.set(); });
        pool.reset();
        const int result = result_of(handle);
        ensure(result == 42 || result == -1);
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(ThreadPoolModel, ATaskIsSpawnedWhileThePoolEnds) {
  check(
      [] {
        std::optional<ThreadPool> pool(std::in_place, workers(1));
        Thread other([spawner = pool->spawner()] {
          JoinHandle<Number> handle = spawner.spawn(AtOnce());
          const int result = result_of(handle);
          ensure(result == 42 || result == -1);
        });
        pool.reset();
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

/// Waits for ever; whoever polls or destroys it leaves its mark.
class Marked {
 public:
  using Output = Number;
  Marked() noexcept {}
  Marked(Marked&&) noexcept {}
  Marked& operator=(Marked&&) = delete;
  ~Marked() { mark_.write() = -1; }
  Poll<Number> poll(Context&) {
    mark_.write() += 1;
    return pending;
  }

 private:
  Cell<int> mark_{0};
};

TEST(ThreadPoolModel, TheLastWorkerSweepsAwayWhatAnotherPolled) {
  check(
      [] {
        ThreadPool pool(workers(2));
        pool.spawn(Marked()).detach();
      },
      {.preemption_bound = 2, .old_value_bound = 0});
}

/// Spawns a task on the worker that polls it, and awaits it.
class Spawns {
 public:
  using Output = Number;
  Spawns() noexcept {}
  Poll<Number> poll(Context& cx) {
    if (!child_) child_.emplace(rouse::spawn(AtOnce()));
    return child_->poll(cx);
  }

 private:
  std::optional<JoinHandle<Number>> child_;
};

TEST(ThreadPoolModel, ATaskAwaitsOneThatItSpawned) {
  check(
      [] {
        ThreadPool pool(workers(1));
        ensure(block_on(pool.spawn(Spawns())).value() == 42);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

Async<int> leaf(int value) { co_return value; }
Async<int> fork() {
  auto [left, right] = co_await parallel(leaf(40), leaf(2));
  co_return left + right;
}

TEST(ThreadPoolModel, AForkIsRunByItsWorkerOrAThief) {
  check(
      [] {
        ThreadPool pool(workers(2));
        ensure(block_on(pool.spawn(fork())) == 42);
      },
      {.preemption_bound = 2, .old_value_bound = 0});
}

Async<void> sets(atomic<bool>& flag) {
  flag.store(true, memory_order_relaxed);
  co_return;
}
Async<void> spins_until(atomic<bool>& flag) {
  while (!flag.load(memory_order_relaxed)) spin_hint();
  co_return;
}
Async<int> fork_that_needs_both(atomic<bool>& flag) {
  co_await parallel(sets(flag), spins_until(flag));
  co_return 42;
}

/// The worker that forked does not come back to what it offered: if the other one fell asleep over
/// it, this would never end.
TEST(ThreadPoolModel, AForkIsTakenByAWorkerThatIsAboutToSleep) {
  check(
      [] {
        atomic<bool> flag{false};
        ThreadPool pool(workers(2));
        ensure(block_on(pool.spawn(borrowed(fork_that_needs_both(flag)))) == 42);
      },
      {.preemption_bound = 1, .old_value_bound = 0});
}

}  // namespace
}  // namespace rouse::model
