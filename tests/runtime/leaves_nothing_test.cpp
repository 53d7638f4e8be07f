// What is left when it is over: no bytes, no file descriptors, no threads; and an idle runtime does
// nothing at all.
#include <chrono>
#include <dirent.h>
#include <fstream>
#include <malloc.h>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"

#include "support/sanitizer.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::sanitized;

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  DIR* open = opendir(directory);
  while (readdir(open) != nullptr) ++count;
  closedir(open);
  return count;
}

struct Footprint {
  std::size_t threads = entries_of("/proc/self/task");
  std::size_t descriptors = entries_of("/proc/self/fd");
  std::size_t heap = mallinfo2().uordblks;
  std::size_t pool = block_pool_bytes();
};

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * 4096;
}

Async<void> waits_for_the_end() { co_await pending_forever<void>(); }
Async<void> yields() {
  for (;;) co_await yield_now();
}

/// Spawned, maybe polled, aborted; joined or not.
Async<void> spawn_and_abort(int cycles) {
  for (int i = 0; i < cycles; ++i) {
    auto handle = i % 2 == 0 ? spawn(waits_for_the_end) : spawn(yields);
    if (i % 3 == 0) co_await yield_now();
    handle.abort();
    if (i % 5 == 0) {
      try {
        co_await handle;
      } catch (const JoinError&) {
      }
    }
  }
}

TEST(LeavesNothing, TenMillionTasksSpawnedAndAborted) {
  constexpr int cycles = sanitized ? 200'000 : 10'000'000;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  auto run = [&](int n) {
    auto other = rt.spawn(spawn_and_abort, n / 2);
    rt.block_on(spawn_and_abort(n / 2));
    rt.block_on(other);
    // Tasks that were aborted and not joined end by themselves.
    while (rt.metrics().alive_tasks != 0) std::this_thread::yield();
  };
  run(cycles / 10);  // fills the pools and queues
  const Footprint before;
  run(cycles);
  const Footprint after;
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.descriptors, before.descriptors);
  // How far two workers drift apart varies a little, so do the pools: nothing that grows with n.
  EXPECT_LE(after.pool, before.pool + (1U << 20));
  if (!sanitized) {
    EXPECT_LE(after.heap, before.heap + (1U << 20));
  }
}

TEST(LeavesNothing, ARuntimeThatEnded) {
  auto cycle = [] {
    Runtime rt = Runtime::builder().worker_threads(4).build();
    for (int i = 0; i < 100; ++i) rt.spawn(waits_for_the_end).detach();
    rt.block_on(rt.spawn_blocking([] {}));
  };
  for (int i = 0; i < 50; ++i) cycle();  // until the allocator has what its threads need
  const Footprint before;
  for (int i = 0; i < 50; ++i) cycle();
  // A thread that was joined may be listed for some moments.
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (entries_of("/proc/self/task") > before.threads &&
         std::chrono::steady_clock::now() < enough) {
    std::this_thread::yield();
  }
  const Footprint after;
  EXPECT_LE(after.threads, before.threads);
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.pool, before.pool + (256U << 10));  // a thread may need a chunk that is not there
  if (!sanitized) {
    EXPECT_LE(after.heap, before.heap + 8192);
  }
}

/// Context switches of all threads of this process that have this name.
long context_switches(const std::string& name) {
  long sum = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream status(std::string("/proc/self/task/") + entry->d_name + "/status");
    std::string word;
    status >> word >> word;  // "Name:" and the name
    if (word != name) continue;
    while (status >> word) {
      if (word != "voluntary_ctxt_switches:" && word != "nonvoluntary_ctxt_switches:") continue;
      long switches = 0;
      status >> switches;
      sum += switches;
    }
  }
  closedir(tasks);
  return sum;
}

TEST(Idle, ARuntimeWithNothingToDoNeverWakesUp) {
  Runtime rt = Runtime::builder().worker_threads(4).thread_name("idle").build();
  for (int i = 0; i < 100; ++i) rt.spawn(waits_for_the_end).detach();
  rt.block_on(yield_now());
  auto parks = [&] {
    std::uint64_t sum = 0;
    for (const auto& worker : rt.metrics().workers) sum += worker.parks;
    return sum;
  };
  auto all_sleep = [&] {
    bool sleep = true;
    for (const auto& worker : rt.metrics().workers)
      sleep = sleep && worker.is_parked && worker.parks > 0;
    return sleep;
  };
  // A worker that was unparked and has had no CPU yet counts as asleep: on a busy machine the first
  // window may see it go to sleep once more. One that wakes up again and again is seen in each.
  bool was_still = false;
  for (int window = 0; window < 5 && !was_still; ++window) {
    while (!all_sleep()) std::this_thread::yield();
    const long before = context_switches("idle");
    const std::uint64_t parked = parks();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_GT(before, 0) << "they had to run to go to sleep";
    // Going to sleep may not be over when the metrics say so: a switch for each thread.
    was_still = context_switches("idle") - before <= 4 && parks() == parked;
  }
  EXPECT_TRUE(was_still);
}

Async<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await parallel(fib(n - 1), fib(n - 2));
  co_return a + b;
}
Async<long> skynet(long first, long size) {
  if (size == 1) co_return first;
  const long s = size / 10;
  const auto [a, b, c, d, e, f, g, h, i, j] = co_await parallel(
      skynet(first, s), skynet(first + s, s), skynet(first + 2 * s, s), skynet(first + 3 * s, s),
      skynet(first + 4 * s, s), skynet(first + 5 * s, s), skynet(first + 6 * s, s),
      skynet(first + 7 * s, s), skynet(first + 8 * s, s), skynet(first + 9 * s, s));
  co_return a + b + c + d + e + f + g + h + i + j;
}

TEST(Memory, ForkJoinTakesDepthTimesWorkersNotTheNumberOfTasks) {
  constexpr std::size_t workers = 4;
  Runtime rt = Runtime::builder().worker_threads(workers).build();
  rt.block_on(yield_now());
  const std::size_t nothing = resident_bytes();
  const std::size_t blocks = block_pool_bytes();
  EXPECT_EQ(rt.block_on(fib(sanitized ? 18 : 30)), sanitized ? 2584 : 832040);
  EXPECT_EQ(rt.block_on(skynet(0, sanitized ? 10'000 : 1'000'000)),
            sanitized ? 49'995'000L : 499'999'500'000L);
  // ASan keeps what was freed for a while.
  if (!address_sanitizer) {
    EXPECT_LE(resident_bytes(), 2 * nothing);
  }
  // A frame is below 512 bytes; skynet has 10 of them a level.
  constexpr std::size_t depth = 30 + 10 * 6;
  EXPECT_LE(block_pool_bytes(), blocks + workers * (depth * 512 + (256U << 10)));
}

}  // namespace
}  // namespace rouse
