// Models of the pool of threads for blocking calls: calls against threads that go idle, run out of
// patience, or are told to end.
#include "rouse/exec/blocking_pool.hpp"

#include <chrono>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

/// Their idle threads wait for ever: a wait with a limit would end by itself, and hide a signal
/// that is missing.
BlockingOptions threads(std::size_t most) {
  BlockingOptions options;
  options.max_threads = most;
  options.keep_alive = std::chrono::nanoseconds::max();
  return options;
}
BlockingOptions impatient_threads(std::size_t most) {
  BlockingOptions options = threads(most);
  options.keep_alive = std::chrono::nanoseconds(5);
  return options;
}

Number answer() { return Number(42); }

void end(BlockingPool& pool) {
  pool.close();
  ensure(pool.wait(), "all threads end");
}

TEST(BlockingPoolModel, ACallIsRunAndItsResultTaken) {
  check([] {
    BlockingPool pool(threads(1));
    ensure(block_on(pool.spawn(answer)).value() == 42);
    end(pool);
  });
}

TEST(BlockingPoolModel, ASecondCallFindsAThreadThatIsIdleOrIsAboutToEnd) {
  check(
      [] {
        BlockingPool pool(impatient_threads(1));
        ensure(block_on(pool.spawn(answer)).value() == 42);
        ensure(block_on(pool.spawn(answer)).value() == 42);
        end(pool);
      },
      {.preemption_bound = 2});
}

TEST(BlockingPoolModel, TwoThreadsRunTwoCallsThatWaitForEachOther) {
  check(
      [] {
        BlockingPool pool(threads(2));
        atomic<int> begun{0};
        const auto meet = [&] {
          begun.fetch_add(1, memory_order_relaxed);
          while (begun.load(memory_order_relaxed) != 2) spin_hint();
          return Number(42);
        };
        JoinHandle<Number> first = pool.spawn(meet);
        JoinHandle<Number> second = pool.spawn(meet);
        ensure(block_on(first).value() == 42);
        ensure(block_on(second).value() == 42);
        end(pool);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(BlockingPoolModel, AQueueThatIsFullRefusesACall) {
  check(
      [] {
        BlockingOptions options = threads(1);
        options.queue_capacity = 1;
        BlockingPool pool(options);
        Parker begun;
        Parker may_end;
        JoinHandle<Number> runs = pool.spawn([&] {
          begun.unpark();
          may_end.park();
          return Number(42);
        });
        begun.park();
        JoinHandle<Number> waits = pool.spawn(answer);
        bool was_refused = false;
        try {
          (void)block_on(pool.spawn(answer));
        } catch (const std::system_error&) {
          was_refused = true;
        }
        ensure(was_refused, "one runs, one waits");
        may_end.unpark();
        ensure(block_on(runs).value() == 42);
        ensure(block_on(waits).value() == 42);
        end(pool);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(BlockingPoolModel, TwoThatCallAtOnceAreBothAnswered) {
  check(
      [] {
        BlockingPool pool(threads(1));
        Thread other([&] { ensure(block_on(pool.spawn(answer)).value() == 42); });
        ensure(block_on(pool.spawn(answer)).value() == 42);
        other.join();
        end(pool);
      },
      {.preemption_bound = 2, .old_value_bound = 0});
}

TEST(BlockingPoolModel, ACallIsRunOrCancelledIfThePoolIsClosed) {
  check([] {
    BlockingPool pool(threads(1));
    Thread other([&] {
      JoinHandle<Number> handle = pool.spawn(answer);
      try {
        ensure(block_on(handle).value() == 42);
      } catch (const JoinError&) {
      }
    });
    end(pool);
    other.join();
  });
}

TEST(BlockingPoolModel, ACallThatWaitsForAThreadIsAborted) {
  check([] {
    BlockingPool pool(threads(1));
    JoinHandle<Number> handle = pool.spawn(answer);
    handle.abort();
    try {
      ensure(block_on(handle).value() == 42);
    } catch (const JoinError&) {
    }
    end(pool);
  });
}

TEST(BlockingPoolModel, AThreadThatIsLentOutComesBackForCalls) {
  check(
      [] {
        BlockingPool pool(threads(1));
        atomic<bool> did_run{false};
        ensure(pool.run_thread([&] { did_run.store(true, memory_order_relaxed); }).has_value());
        ensure(block_on(pool.spawn(answer)).value() == 42);
        end(pool);
        ensure(did_run.load(memory_order_relaxed));
      },
      {.preemption_bound = 2});
}

}  // namespace
}  // namespace rouse::model
