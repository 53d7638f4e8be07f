// Models of the pool of threads for blocking calls: calls against threads that go idle, run out of
// patience, or are told to end.
#include "rouse/exec/blocking_pool.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

BlockingOptions threads(std::size_t most) {
  BlockingOptions options;
  options.max_threads = most;
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
        BlockingPool pool(threads(1));
        ensure(block_on(pool.spawn(answer)).value() == 42);
        ensure(block_on(pool.spawn(answer)).value() == 42);
        end(pool);
      },
      {.preemption_bound = 2});
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
