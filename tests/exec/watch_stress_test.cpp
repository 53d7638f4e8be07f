// Watched mode goes on and off while workers spawn, wake, steal, end, abort and block, and while
// others read: at rest the sums agree.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"

#include "exec/pool/pool_core.hpp"
#include "exec/task/watching.hpp"
#include "exec/watch_sums.hpp"
#include "support/sanitizer.hpp"

namespace rouse::internal {
namespace {

constexpr std::size_t watched_workers = 4;
constexpr int watch_rounds = test::sanitized ? 20 : 60;

Async<void> yields_and_ends(int yields) {
  for (int i = 0; i < yields; ++i) co_await yield_now();
}
Async<void> does_all_things(int depth) {
  std::vector<JoinHandle<>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(depth == 0 ? spawn(yields_and_ends, i) : spawn(does_all_things, depth - 1));
    if (depth == 1) block_in_place([] {});
  }
  auto aborted = spawn(pending_forever<void>());
  co_await yield_now();
  aborted.abort();
  for (auto& child : children) co_await child;
}

ThreadPoolOptions four_workers() {
  ThreadPoolOptions made;
  made.workers = watched_workers;
  return made;
}

void until_pool_rests(const ThreadPool& pool) {
  const auto sleeps = [&] {
    const PoolMetrics metrics = pool.metrics();
    for (const WorkerMetrics& worker : metrics.workers) {
      if (!worker.is_parked) return false;
    }
    return metrics.alive_tasks == 0;
  };
  while (!sleeps()) std::this_thread::yield();
}

/// Until each worker has been polling while polls are watched: four tasks that wait for each other.
void until_all_watch(ThreadPool& pool) {
  std::atomic<int> begun{0};
  const auto meet = [&]() -> Async<void> {
    ++begun;
    while (begun < static_cast<int>(watched_workers)) std::this_thread::yield();
    co_return;
  };
  std::vector<JoinHandle<>> tasks;
  for (std::size_t i = 0; i < watched_workers; ++i) tasks.push_back(pool.spawn(meet));
  for (auto& task : tasks) block_on(task);
}

TEST(WatchStress, AtRestEachPollIsNoted) {
  const Watching watching;
  ThreadPool pool(four_workers());
  const Examinable& core = static_cast<PoolCore&>(pool.scheduler());
  until_all_watch(pool);
  until_pool_rests(pool);
  const WatchSums before = sums_of(core);
  for (int round = 0; round < watch_rounds / 4; ++round) {
    block_on(pool.spawn(does_all_things, 3));
    until_pool_rests(pool);
    const WatchSums after = sums_of(core);
    ASSERT_EQ(after.polls - before.polls, after.noted - before.noted);
    ASSERT_EQ(after.site_polls, after.noted);
    ASSERT_EQ(after.site_busy_ns, after.busy_ns);
  }
}

TEST(WatchStress, GoesOnAndOffWhileEverythingHappens) {
  ThreadPool pool(four_workers());
  const Examinable& core = static_cast<PoolCore&>(pool.scheduler());
  std::atomic<bool> is_over{false};
  std::thread switches([&] {
    while (!is_over) {
      const Watching watching;
      std::this_thread::yield();
    }
  });
  std::thread reads([&] {
    std::uint64_t noted = 0;
    while (!is_over) {
      const std::uint64_t now = sums_of(core).noted;
      EXPECT_GE(now, noted);
      noted = now;
    }
  });
  for (int round = 0; round < watch_rounds; ++round) block_on(pool.spawn(does_all_things, 3));
  is_over = true;
  switches.join();
  reads.join();
  until_pool_rests(pool);
  const WatchSums sums = sums_of(core);
  EXPECT_LE(sums.noted, sums.polls);
  EXPECT_EQ(sums.site_polls, sums.noted);
  EXPECT_EQ(sums.site_busy_ns, sums.busy_ns);
}

}  // namespace
}  // namespace rouse::internal
