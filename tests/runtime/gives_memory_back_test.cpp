// Memory of tasks goes to whoever needs it next, and back to the system. (Under AddressSanitizer
// there is no pool, and its figure is 0.)
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/notify.hpp"

#include "support/process_figures.hpp"
#include "support/sanitizer.hpp"

namespace rouse {

using namespace internal;
namespace {

using test::sanitized;

constexpr std::size_t many = sanitized ? 50'000 : 200'000;
constexpr std::size_t mb = 1024 * 1024;
/// The pool keeps 4 MB, and a quarter more than is in use.
constexpr std::size_t kept = 4 * mb;
constexpr std::size_t kept_by_a_thread = 2 * mb;

Async<void> waits_forever() { co_await pending_forever<void>(); }

/// Threads that do what they are told, one after the other, and stay.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  ~Threads() {
    done_.test_and_set();
    done_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  /// Runs `fn` on a new thread.
  template <class Fn>
  void run(Fn fn) {
    std::atomic_flag ran;
    threads_.emplace_back([this, &ran, fn] {
      fn();
      ran.test_and_set();
      ran.notify_all();
      done_.wait(false);
    });
    ran.wait(false);
  }

 private:
  std::atomic_flag done_;
  std::vector<std::thread> threads_;
};

TEST(GivesMemoryBack, WhatOneThreadSpawnedServesTheTasksOfTheNext) {
  constexpr std::size_t count = 6;
  Threads threads;
  std::size_t first_peak = 0;
  std::size_t peak = 0;
  {
    Runtime rt = Runtime::builder().worker_threads(2).build();
    for (std::size_t i = 0; i < count; ++i) {
      threads.run([&] {
        std::vector<JoinHandle<void>> tasks;
        for (std::size_t k = 0; k < many; ++k) tasks.push_back(rt.spawn(waits_forever));
        peak = std::max(peak, block_pool_bytes());
        for (auto& task : tasks) task.abort();
      });
      while (rt.metrics().alive_tasks != 0) std::this_thread::yield();
      if (i == 0) first_peak = peak;
    }
  }
  EXPECT_LE(peak, first_peak * 3 / 2 + kept + count * kept_by_a_thread);
  EXPECT_LE(block_pool_bytes(),
            kept + count * kept_by_a_thread);  // the runtime has ended, the threads not
}

Async<void> waits_until(sync::Notify& end) { co_await end.notified(); }

Async<void> spawn_many_and_end_them() {
  sync::Notify end;
  std::vector<JoinHandle<void>> tasks;
  for (std::size_t k = 0; k < many; ++k) tasks.push_back(spawn(waits_until, std::ref(end)));
  co_await yield_now();
  end.notify_waiters();
  for (auto& task : tasks) co_await task;
}

/// Runs tasks, says that they have ended, and waits.
Async<void> have_tasks(sync::Notify& ended, sync::Notify& over) {
  co_await spawn_many_and_end_them();
  ended.notify_one();
  co_await over.notified();
}

TEST(GivesMemoryBack, WhatAThreadThatSleepsHasUsedServesTheNext) {
  std::size_t first = 0;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Runtime>> runtimes;
  std::vector<std::unique_ptr<sync::Notify>> over;
  sync::Notify ended;
  const std::size_t before = block_pool_bytes();
  for (int i = 0; i < 4; ++i) {
    over.push_back(std::make_unique<sync::Notify>());
    runtimes.push_back(std::make_unique<Runtime>(Runtime::builder().current_thread().build()));
    Runtime& rt = *runtimes.back();
    threads.emplace_back(
        [&ended, &rt, &over = *over.back()] { rt.block_on(have_tasks(ended, over)); });
    block_on(ended.notified());
    while (rt.metrics().workers[0].parks == 0) std::this_thread::yield();  // until it sleeps
    if (i == 0) first = block_pool_bytes();
  }
  EXPECT_LE(block_pool_bytes(), std::max(first, before) * 3 / 2 + kept);
  for (auto& one : over) one->notify_one();
  for (std::thread& thread : threads) thread.join();
  runtimes.clear();
  EXPECT_LE(block_pool_bytes(), kept + kept_by_a_thread);
}

TEST(GivesMemoryBack, TheSystemGetsThePages) {
  if (sanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  const auto resident_mb = [] { return test::resident_memory(::getpid()) / 1024; };
  const std::size_t before = resident_mb();
  std::size_t peak = 0;
  {
    Runtime rt = Runtime::builder().worker_threads(2).build();
    std::vector<JoinHandle<void>> tasks;
    for (std::size_t k = 0; k < many; ++k) tasks.push_back(rt.spawn(waits_forever));
    peak = resident_mb();
    for (auto& task : tasks) task.abort();
    while (rt.metrics().alive_tasks != 0) std::this_thread::yield();
  }
  EXPECT_GE(peak, before + 30);
  EXPECT_LE(resident_mb(), before + 20);
}

/// True if it ended by itself, and well.
bool ends_in_time(pid_t child) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return status == 0;
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Async<int> count_down(int n) {
  if (n == 0) co_return 0;
  co_await yield_now();
  co_return 1 + co_await count_down(n - 1);
}

/// When its thread ends, and has handed its heap on: then every block needs the pool's lock.
class HammersAtThreadEnd {
 public:
  explicit HammersAtThreadEnd(const std::atomic<bool>& stop) : stop_(stop) {}
  HammersAtThreadEnd(const HammersAtThreadEnd&) = delete;
  ~HammersAtThreadEnd() {
    while (!stop_.load()) free_block(allocate_block(100), 100);
  }

 private:
  const std::atomic<bool>& stop_;
};

bool a_runtime_works() {
  // Thread sanitizer forbids threads after a fork.
  Runtime rt = test::thread_sanitizer ? Runtime::builder().current_thread().build()
                                      : Runtime::builder().worker_threads(2).build();
  return rt.block_on(count_down(1'000)) == 1'000;
}

TEST(Fork, AChildHasMemoryForItsTasksWhateverTheOtherThreadsDidInThePool) {
  if (!blocks_are_pooled) {
    // The child would wait for ever for whoever had the lock of the sanitizer's quarantine.
    GTEST_SKIP() << "there is no pool, and address sanitizer's allocator can't be forked";
  }
  std::atomic<bool> stop{false};
  std::vector<std::thread> hammers;
  for (int i = 0; i < 2; ++i) {
    hammers.emplace_back([&] {
      static thread_local HammersAtThreadEnd hammer(stop);  // before the first block
      free_block(allocate_block(100), 100);
    });
  }
  constexpr int forks = sanitized ? 30 : 200;
  int ended_well = 0;
  for (int i = 0; i < forks; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // More than this thread has free, so that the depot is asked.
      std::vector<void*> blocks;
      for (int k = 0; k < 300; ++k) blocks.push_back(allocate_block(1'000));
      const bool works = a_runtime_works();
      for (void* block : blocks) free_block(block, 1'000);
      ::_exit(works ? 0 : 1);
    }
    if (!ends_in_time(child)) break;
    ++ended_well;
  }
  stop.store(true);
  for (std::thread& hammer : hammers) hammer.join();
  EXPECT_EQ(ended_well, forks);
}

}  // namespace
}  // namespace rouse
