// Models of the end of a ThreadPool: tasks that block in place, and the sweep.
#include <cstddef>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

/// 42, or -1 if it was cancelled.
int result_of(JoinHandle<Number>& handle) {
  try {
    return block_on(handle).value();
  } catch (const JoinError&) {
    return -1;
  }
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

ThreadPoolOptions one_worker_and(std::size_t blocking_threads) {
  ThreadPoolOptions config;
  config.workers = 1;
  config.threads.max_threads = blocking_threads;
  return config;
}

/// As Marked, but its first poll blocks in place, which lets its worker go.
class BlocksOnce {
 public:
  using Output = Number;
  BlocksOnce() noexcept {}
  BlocksOnce(BlocksOnce&&) noexcept {}
  BlocksOnce& operator=(BlocksOnce&&) = delete;
  ~BlocksOnce() { mark_.write() = -1; }
  Poll<Number> poll(Context&) {
    mark_.write() += 1;
    block_in_place([this] { mark_.write() += 1; });
    mark_.write() += 1;
    return pending;
  }

 private:
  Cell<int> mark_{0};
};

TEST(PoolEndModel, ATaskThatIsAwayIsEndedByItsThreadOrTheSweep) {
  check(
      [] {
        ThreadPool pool(one_worker_and(2));
        pool.spawn(BlocksOnce()).detach();
      },
      {.preemption_bound = 2, .old_value_bound = 0});
}

TEST(PoolEndModel, AThreadThatKeepsItsWorkerLosesItToTheEnd) {
  check(
      [] {
        ThreadPool pool(one_worker_and(1));
        pool.spawn(BlocksOnce()).detach();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

/// Blocks in place until a task has ended that nobody polls to its end.
class BlocksOnAnother {
 public:
  using Output = Number;
  BlocksOnAnother() noexcept {}
  Poll<Number> poll(Context&) {
    JoinHandle<Number> other = rouse::spawn(Marked());
    block_in_place([&] { ensure(result_of(other) == -1, "the end reaches it"); });
    return Poll<Number>::ready(42);
  }
};

TEST(PoolEndModel, TheEndReachesWhatATaskBlocksOn) {
  for (const std::size_t blocking_threads : {1U, 2U}) {
    check(
        [blocking_threads] {
          ThreadPool pool(one_worker_and(blocking_threads));
          pool.spawn(BlocksOnAnother()).detach();
        },
        {.preemption_bound = 1, .old_value_bound = 0});
  }
}

/// Its destructor blocks in place on a task that is swept after it.
class BlocksWhenSwept {
 public:
  using Output = Number;
  explicit BlocksWhenSwept(std::optional<JoinHandle<Number>>& other) noexcept : other_(&other) {}
  BlocksWhenSwept(BlocksWhenSwept&& from) noexcept : other_(std::exchange(from.other_, nullptr)) {}
  BlocksWhenSwept& operator=(BlocksWhenSwept&&) = delete;
  ~BlocksWhenSwept() {
    if (other_ == nullptr) return;
    block_in_place([this] { ensure(result_of(**other_) == -1, "the sweep goes on"); });
  }
  Poll<Number> poll(Context&) { return pending; }

 private:
  std::optional<JoinHandle<Number>>* other_;
};

TEST(PoolEndModel, TheSweepGoesOnElsewhereWhenItBlocks) {
  check(
      [] {
        std::optional<JoinHandle<Number>> second;
        ThreadPool pool(one_worker_and(1));
        JoinHandle<Number> first = pool.spawn(BlocksWhenSwept(second));
        second.emplace(pool.spawn(Marked()));
      },
      {.preemption_bound = 1, .old_value_bound = 0});
}

}  // namespace
}  // namespace rouse::model
