// The published bound: a task with k tasks before it in its worker's queue is polled within
// (k + 1) * 4 polls of that worker, whatever runs through the LIFO slot.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"

namespace rouse {
namespace {

constexpr std::uint64_t lifo_polls_a_turn = 3;

ThreadPoolOptions one_worker() {
  ThreadPoolOptions config;
  config.workers = 1;
  return config;
}

/// Two tasks that wake each other for ever, always through the LIFO slot.
struct PingPong {
  AtomicWaker wakers[2];
  std::atomic<bool> turn[2] = {true, false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> polls{0};
};
Async<void> player(PingPong* game, int side) {
  while (!game->stop.load()) {
    auto my_turn = [game, side](Context& cx) -> Poll<void> {
      game->polls.fetch_add(1);
      game->wakers[side].register_waker(cx.waker());
      if (game->turn[side].exchange(false) || game->stop.load()) return Poll<void>::ready();
      return pending;
    };
    co_await poll_fn(my_turn);
    game->turn[1 - side].store(true);
    game->wakers[1 - side].wake();
  }
}

TEST(Fairness, PingPongThroughTheLifoSlotDoesNotStarveTheQueue) {
  PingPong game;
  const ThreadPool pool(one_worker());
  auto both = [](PingPong* g) -> Async<std::uint64_t> {
    auto a = spawn(player, g, 0);
    auto b = spawn(player, g, 1);
    std::uint64_t longest = 0;
    for (int i = 0; i < 1000; ++i) {
      // Yielding puts this task at the end of the queue: the players may be before it once.
      const std::uint64_t before = g->polls.load();
      co_await yield_now();
      const std::uint64_t passed = g->polls.load() - before;
      longest = passed > longest ? passed : longest;
    }
    g->stop = true;
    co_await a;
    co_await b;
    co_return longest;
  };
  const std::uint64_t longest = block_on(pool.spawn(both, &game));
  EXPECT_GT(longest, 0U) << "the players did not play";
  // At most the two players are before it in the queue.
  EXPECT_LE(longest, 3 * (lifo_polls_a_turn + 1));
}

TEST(Fairness, AWokenTaskIsServedInItsTurnWhateverTheQueueHolds) {
  // 1,000 tasks that always yield: between two polls of one of them each other is polled once.
  constexpr int tasks = 1000;
  constexpr int rounds = 20;
  const ThreadPool pool(one_worker());
  auto all = [](std::vector<int>* order) -> Async<void> {
    auto yielder = [](std::vector<int>* turns, int number) -> Async<void> {
      for (int i = 0; i < rounds; ++i) {
        turns->push_back(number);
        co_await yield_now();
      }
    };
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < tasks; ++i) handles.push_back(spawn(yielder, order, i));
    for (auto& handle : handles) co_await handle;
  };
  std::vector<int> order;
  block_on(pool.spawn(all, &order));
  ASSERT_EQ(order.size(), static_cast<std::size_t>(tasks * rounds));
  std::vector<std::size_t> last(tasks, 0);
  std::vector<bool> seen(tasks, false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto number = static_cast<std::size_t>(order[i]);
    if (seen[number]) {
      EXPECT_LE(i - last[number], static_cast<std::size_t>(tasks)) << number;
    }
    seen[number] = true;
    last[number] = i;
  }
}

Async<long> forking_fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await parallel(forking_fib(n - 1), forking_fib(n - 2));
  co_return a + b;
}

/// The most polls that passed while a task waited its turn, with tasks around that fork all the
/// time.
std::uint64_t longest_wait_in_a_fork_storm(std::size_t workers, int storms) {
  ThreadPoolOptions config;
  config.workers = workers;
  const ThreadPool pool(std::move(config));
  std::atomic<bool> stop{false};
  auto storm = [&]() -> Async<void> {
    while (!stop.load()) {
      EXPECT_EQ(co_await forking_fib(12), 144);
      co_await yield_now();
    }
  };
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < storms; ++i) handles.push_back(pool.spawn(storm));
  auto polls = [&] {
    std::uint64_t sum = 0;
    for (const auto& worker : pool.metrics().workers) sum += worker.polls;
    return sum;
  };
  auto waits_its_turn = [&]() -> Async<std::uint64_t> {
    std::uint64_t longest = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t before = polls();
      co_await yield_now();
      const std::uint64_t passed = polls() - before;
      longest = passed > longest ? passed : longest;
    }
    co_return longest;
  };
  const std::uint64_t longest = block_on(pool.spawn(waits_its_turn));
  stop = true;
  for (auto& handle : handles) block_on(handle);
  return longest;
}

TEST(Fairness, AForkStormDoesNotStarveTheQueue) {
  constexpr int storms = 4;
  EXPECT_LE(longest_wait_in_a_fork_storm(1, storms), (storms + 1) * (lifo_polls_a_turn + 1));
  // With thieves at work it can't be told whose polls to count; that all end is what counts.
  EXPECT_GT(longest_wait_in_a_fork_storm(3, storms), 0U);
}

TEST(Fairness, ATaskFromOutsideIsPolledWithinTheInterval) {
  ThreadPoolOptions config = one_worker();
  config.global_queue_interval = 7;
  const ThreadPool pool(std::move(config));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> polls{0};
  std::atomic<bool> hold{false};  // whoever is polled stays so
  std::atomic<bool> is_held{false};
  auto busy = [&]() -> Async<void> {
    while (!stop.load()) {
      polls.fetch_add(1);
      if (hold.load()) {
        is_held = true;
        while (hold.load()) std::this_thread::yield();
        is_held = false;
      }
      co_await yield_now();
    }
  };
  auto first = pool.spawn(busy);
  auto second = pool.spawn(busy);
  for (int i = 0; i < 1000; ++i) {
    hold = true;
    while (!is_held.load()) std::this_thread::yield();
    const std::uint64_t begun = polls.load();
    auto look = [&]() -> Async<std::uint64_t> { co_return polls.load() - begun; };
    auto looking = pool.spawn(look);
    hold = false;
    EXPECT_LE(block_on(looking), 7U + 2U);
    while (is_held.load()) std::this_thread::yield();
  }
  stop = true;
  block_on(first);
  block_on(second);
}

}  // namespace
}  // namespace rouse
