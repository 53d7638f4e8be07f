// LocalExecutor against other threads: nothing lost, nothing leaked, under TSan and ASan.
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

#include "exec/stress_support.hpp"

namespace rouse {
namespace {

using test::Cell;
using test::Count;
using test::follow;
using test::publish;
using test::thread_count;
using testing::Gate;

TEST(LocalStress, EveryCrossThreadWakeIsSeen) {
  // Each round a thread publishes a number and wakes; the task must see every number.
  constexpr int rounds = 5000;
  std::vector<std::unique_ptr<Cell>> cells;
  for (int i = 0; i < thread_count; ++i) cells.push_back(std::make_unique<Cell>());

  LocalExecutor executor;
  for (auto& cell : cells) executor.spawn(follow, cell.get(), rounds).detach();
  std::vector<std::thread> threads;
  for (auto& cell : cells) threads.emplace_back(publish, cell.get(), rounds);
  executor.run();
  for (auto& thread : threads) thread.join();
  for (auto& cell : cells) EXPECT_EQ(cell->seen.load(), rounds);
}

TEST(LocalStress, SpawnsJoinsAbortsAndDropsFromOtherThreadsLeaveNothing) {
  LocalExecutor executor;
  std::atomic<int> alive{0};
  auto work = [](Count, int yields) -> Async<int> {
    for (int i = 0; i < yields; ++i) co_await yield_now();
    co_return yields;
  };
  std::atomic<int> running{thread_count};
  Gate<void> all_done;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t, spawner = executor.spawner()] {
      std::mt19937 random(t);
      std::vector<JoinHandle<int>> kept;
      for (int i = 0; i < 2000; ++i) {
        const int yields = static_cast<int>(random() % 4);
        auto handle = spawner.spawn(work, Count(alive), yields);
        switch (random() % 5) {
          case 0:
            handle.detach();
            break;
          case 1:
            handle.abort();
            break;
          case 2:
            kept.push_back(std::move(handle));
            break;
          case 3:
            EXPECT_EQ(block_on(handle), yields);
            break;
          default:
            handle.abort();
            try {
              EXPECT_EQ(block_on(handle), yields);
            } catch (const JoinError&) {
            }
        }
        if (kept.size() > 20) kept.clear();
      }
      if (running.fetch_sub(1) == 1) all_done.open();
    });
  }
  executor.run_until(all_done.wait());
  for (auto& thread : threads) thread.join();
  executor.run();
  EXPECT_EQ(alive.load(), 0);
  EXPECT_EQ(executor.live_tasks(), 0U);
}

TEST(LocalStress, WakersCopiedMovedAndDroppedAcrossThreadsFreeTheTaskOnce) {
  for (int round = 0; round < 300; ++round) {
    LocalExecutor executor;
    std::vector<Waker> wakers;
    bool stop = false;
    auto task = executor.spawn(poll_fn([&](Context& cx) -> Poll<void> {
      if (stop) return Poll<void>::ready();
      if (wakers.empty()) {
        for (int i = 0; i < thread_count; ++i) wakers.push_back(cx.waker());
      }
      return pending;
    }));
    executor.run_until(yield_now());
    std::vector<std::thread> threads;
    for (auto& waker : wakers) {
      threads.emplace_back([w = std::move(waker)]() mutable {
        std::vector<Waker> copies(5, w);
        copies[1].wake_by_ref();
        std::move(copies[2]).wake();
        Waker moved = std::move(copies[3]);
      });
    }
    if (round % 3 == 0) stop = true;
    if (round % 2 == 0) executor.run_until(yield_now());
    task.detach();
    if (round % 5 == 0) {
      for (auto& thread : threads) thread.join();
      threads.clear();
    }
    // The executor goes here, with threads maybe still at work: they join after it.
    struct JoinAll {
      explicit JoinAll(std::vector<std::thread>& t) : threads(t) {}
      ~JoinAll() {
        for (auto& thread : threads) thread.join();
      }
      std::vector<std::thread>& threads;
    };
    auto owned = std::make_unique<std::vector<std::thread>>(std::move(threads));
    const JoinAll join(*owned);
    stop = true;
  }
}

TEST(LocalStress, DestroyedAtManyPointsWhileThreadsSpawnAndWake) {
  for (unsigned round = 0; round < 200; ++round) {
    std::mt19937 random(round);
    auto executor = std::make_unique<LocalExecutor>();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&stop, spawner = executor->spawner()] {
        auto task = []() -> Async<void> {
          for (int i = 0; i < 3; ++i) co_await yield_now();
        };
        while (!stop.load()) {
          auto handle = spawner.spawn(task);
          try {
            block_on(handle);
          } catch (const JoinError&) {
          }
        }
      });
    }
    const int turns = static_cast<int>(random() % 50);
    for (int i = 0; i < turns; ++i) executor->run_until(yield_now());
    executor.reset();
    stop = true;
    for (auto& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace rouse
