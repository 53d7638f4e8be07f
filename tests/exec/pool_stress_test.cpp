// ThreadPool under storms: nothing lost, nothing leaked, under TSan and ASan.
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"

#include "exec/stress_support.hpp"

namespace rouse {
namespace {

using test::Cell;
using test::Count;
using test::follow;
using test::publish;
using test::thread_count;

ThreadPoolOptions with_workers(std::size_t workers) {
  ThreadPoolOptions config;
  config.workers = workers;
  return config;
}
/// Four times as many as there are cores.
std::size_t many_workers() {
  const std::size_t cores = std::thread::hardware_concurrency();
  return cores == 0 ? 8 : 4 * cores;
}

class PoolStress : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, PoolStress, ::testing::Values(1, 2, many_workers()),
                         [](const auto& tested) {
                           return "workers" + std::to_string(tested.param);
                         });

TEST_P(PoolStress, EveryWakeFromOutsideIsSeen) {
  constexpr int rounds = 2000;
  std::vector<std::unique_ptr<Cell>> cells;
  for (int i = 0; i < thread_count; ++i) cells.push_back(std::make_unique<Cell>());
  const ThreadPool pool(with_workers(GetParam()));
  std::vector<JoinHandle<>> followers;
  for (auto& cell : cells) followers.push_back(pool.spawn(follow, cell.get(), rounds));
  std::vector<std::thread> threads;
  for (auto& cell : cells) threads.emplace_back(publish, cell.get(), rounds);
  for (auto& follower : followers) block_on(follower);
  for (auto& thread : threads) thread.join();
}

TEST_P(PoolStress, TasksThatWakeEachOtherInARingLoseNoWake) {
  constexpr int tasks = 50;
  constexpr int laps = 300;
  struct Station {
    std::atomic<int> tokens{0};
    AtomicWaker waker;
  };
  std::vector<Station> ring(tasks);
  const ThreadPool pool(with_workers(GetParam()));
  auto pass_on = [](std::vector<Station>* stations, int at) -> Async<void> {
    Station& own = (*stations)[static_cast<std::size_t>(at)];
    Station& next = (*stations)[static_cast<std::size_t>((at + 1) % tasks)];
    for (int lap = 0; lap < laps; ++lap) {
      auto has_token = [&own](Context& cx) -> Poll<void> {
        own.waker.register_waker(cx.waker());
        if (own.tokens.load() == 0) return pending;
        own.tokens.fetch_sub(1);
        return Poll<void>::ready();
      };
      co_await poll_fn(has_token);
      next.tokens.fetch_add(1);
      next.waker.wake();
    }
  };
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < tasks; ++i) handles.push_back(pool.spawn(pass_on, &ring, i));
  for (std::size_t i = 0; i < 7; ++i) {  // seven tokens go round
    ring[i * 7].tokens.fetch_add(1);
    ring[i * 7].waker.wake();
  }
  for (auto& handle : handles) block_on(handle);
}

Async<long> tree(int depth) {
  if (depth == 0) co_return 1;
  auto left = spawn(tree, depth - 1);
  auto right = spawn(tree, depth - 1);
  co_return co_await left + co_await right;
}

TEST_P(PoolStress, ATreeOfTasksComesBackWhole) {
  const ThreadPool pool(with_workers(GetParam()));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(block_on(pool.spawn(tree, 11)), 2048);
  EXPECT_EQ(pool.metrics().alive_tasks, 0U);
}

TEST_P(PoolStress, SpawnsJoinsAbortsAndDropsFromAllSidesLeaveNothing) {
  std::atomic<int> alive{0};
  {
    const ThreadPool pool(with_workers(GetParam()));
    auto work = [](Count, int yields) -> Async<int> {
      for (int i = 0; i < yields; ++i) co_await yield_now();
      co_return yields;
    };
    // The same from plain threads and from inside tasks.
    auto inside = [&alive, work](unsigned seed) -> Async<void> {
      std::mt19937 random(seed);
      std::vector<JoinHandle<int>> kept;
      for (int i = 0; i < 1000; ++i) {
        const int yields = static_cast<int>(random() % 4);
        auto handle = spawn(work, Count(alive), yields);
        const auto what = random() % 5;
        if (what == 0) handle.detach();
        if (what == 1 || what == 4) handle.abort();
        if (what == 2) kept.push_back(std::move(handle));
        if (what == 3) {
          EXPECT_EQ(co_await handle, yields);
        }
        if (what == 4) {
          try {
            EXPECT_EQ(co_await handle, yields);
          } catch (const JoinError&) {
          }
        }
        if (kept.size() > 20) kept.clear();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        block_on(pool.spawn(inside, t));
        std::mt19937 random(t + 100);
        std::vector<JoinHandle<int>> kept;
        for (int i = 0; i < 1000; ++i) {
          const int yields = static_cast<int>(random() % 4);
          auto handle = pool.spawn(work, Count(alive), yields);
          const auto what = random() % 5;
          if (what == 0) handle.detach();
          if (what == 1 || what == 4) handle.abort();
          if (what == 2) kept.push_back(std::move(handle));
          if (what == 3) {
            EXPECT_EQ(block_on(handle), yields);
          }
          if (what == 4) {
            try {
              EXPECT_EQ(block_on(handle), yields);
            } catch (const JoinError&) {
            }
          }
          if (kept.size() > 20) kept.clear();
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(PoolStress, WakersCopiedAndDroppedAcrossThreadsFreeTheTaskOnce) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> stop{false};
    std::atomic<int> filled{0};
    std::vector<Waker> wakers;
    auto pool = std::make_unique<ThreadPool>(with_workers(GetParam()));
    auto task = pool->spawn(poll_fn([&](Context& cx) -> Poll<void> {
      if (stop.load()) return Poll<void>::ready();
      if (wakers.empty()) {
        for (int i = 0; i < thread_count; ++i) wakers.push_back(cx.waker());
        filled.store(1);
      }
      return pending;
    }));
    while (filled.load() == 0) std::this_thread::yield();
    std::vector<std::thread> threads;
    for (auto& waker : wakers) {
      threads.emplace_back([w = std::move(waker)]() mutable {
        std::vector<Waker> copies(5, w);
        copies[1].wake_by_ref();
        std::move(copies[2]).wake();
        const Waker moved = std::move(copies[3]);
      });
    }
    if (round % 3 == 0) stop = true;
    if (round % 2 == 0) task.abort();
    if (round % 5 == 0) task.detach();
    if (round % 7 != 0) pool.reset();  // with threads maybe still at work
    for (auto& thread : threads) thread.join();
  }
}

TEST_P(PoolStress, DestroyedAtManyPointsWhileTasksAndThreadsSpawnAndWake) {
  std::atomic<int> alive{0};
  for (unsigned round = 0; round < 60; ++round) {
    std::mt19937 random(round);
    auto pool = std::make_unique<ThreadPool>(with_workers(GetParam()));
    std::atomic<bool> stop{false};
    auto busy = [](Count held) -> Async<void> {
      for (;;) {
        auto child = [](Count) -> Async<void> { co_await yield_now(); };
        auto handle = spawn(child, held);
        co_await handle;
        spawn(child, held).detach();
        co_await yield_now();
      }
    };
    for (int i = 0; i < 5; ++i) pool->spawn(busy, Count(alive)).detach();
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&stop, &alive, spawner = pool->spawner()] {
        auto task = [](Count) -> Async<void> {
          for (int i = 0; i < 3; ++i) co_await yield_now();
        };
        while (!stop.load()) {
          auto handle = spawner.spawn(task, Count(alive));
          try {
            block_on(handle);
          } catch (const JoinError&) {
          }
        }
      });
    }
    const auto polls = random() % 2000;
    auto polled = [&] {
      std::uint64_t sum = 0;
      for (const auto& worker : pool->metrics().workers) sum += worker.polls;
      return sum;
    };
    while (polled() < polls) std::this_thread::yield();
    pool.reset();
    stop = true;
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(alive.load(), 0) << round;
  }
}

}  // namespace
}  // namespace rouse
