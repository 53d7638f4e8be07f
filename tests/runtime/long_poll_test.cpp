// A poll that takes long beside workers that are idle: what waits on its worker is looked after by
// them. Each test spins inside a poll until the others have run, so there is nothing to measure: if
// they wait for the end of that poll, it does not end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <sys/eventfd.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

#include "sys/heavy_fence.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Without giving way, as a computation would. False: it has not come true in ten seconds.
template <class Fn>
bool spin_until(const Fn& is_true) {
  const auto end = Clock::now() + 10s;
  while (!is_true()) {
    if (Clock::now() > end) return false;
  }
  return true;
}

class BesideALongPoll : public ::testing::TestWithParam<std::size_t> {
 protected:
  bool all_sleep() const {
    const RuntimeMetrics metrics = rt.metrics();
    return std::all_of(metrics.workers.begin(), metrics.workers.end(),
                       [](const WorkerMetrics& worker) { return worker.is_parked; });
  }

  Runtime rt = Runtime::builder().worker_threads(GetParam()).build();
};
INSTANTIATE_TEST_SUITE_P(Workers, BesideALongPoll, ::testing::Values(2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(BesideALongPoll, ATimerOfThatWorkerFires) {
  auto test = []() -> Async<bool> {
    std::atomic<bool> has_fired = false;
    auto computation = [&has_fired]() -> Async<bool> {
      co_return spin_until([&has_fired] { return has_fired.load(); });
    };
    // The timer is in the wheel of the worker that polls this, and polls next what is spawned here.
    Sleep nap = sleep(5ms);
    std::optional<JoinHandle<bool>> computed;
    auto begin = [&](Context& cx) -> Poll<void> {
      EXPECT_TRUE(nap.poll(cx).is_pending());
      computed.emplace(spawn(computation));
      return Poll<void>::ready();
    };
    co_await poll_fn(begin);
    co_await nap;
    has_fired = true;
    co_return co_await *computed;
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rt.block_on(test())) << i;
}

/// A descriptor that becomes readable.
class Event {
 public:
  void happen() const { ASSERT_EQ(::eventfd_write(fd_.get(), 1), 0); }
  Async<void> has_happened() const {
    const io::AsyncFd watched(fd_.get(), io::Interest::readable);
    auto read = [this] {
      eventfd_t value = 0;
      return ::eventfd_read(fd_.get(), &value);
    };
    co_await watched.async_io(io::Interest::readable, read);
  }

 private:
  const io::OwnedFd fd_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

TEST_P(BesideALongPoll, IoIsWaitedFor) {
  for (int i = 0; i < 5; ++i) {
    const Event begin;
    const Event beside;
    std::atomic<bool> is_served = false;
    auto server = [&]() -> Async<void> {
      co_await beside.has_happened();
      is_served = true;
    };
    // The worker that waits for I/O finds the first event, and goes off to this poll.
    auto computation = [&]() -> Async<bool> {
      co_await begin.has_happened();
      beside.happen();
      co_return spin_until([&] { return is_served.load(); });
    };
    auto served = rt.spawn(server);
    auto computed = rt.spawn(computation);
    ASSERT_TRUE(spin_until([&] { return all_sleep(); }));
    begin.happen();
    ASSERT_TRUE(block_on(std::move(computed))) << i;  // outside, where it disturbs no worker
    block_on(std::move(served));
  }
}

TEST_P(BesideALongPoll, WhatItSpawnedRuns) {
  if (!sys::heavy_fence()) GTEST_SKIP() << "this kernel has no membarrier";
  auto test = [](int count) -> Async<bool> {
    std::atomic<int> run = 0;
    std::vector<JoinHandle<void>> children;
    for (int i = 0; i < count; ++i) {
      children.push_back(spawn([&run]() -> Async<void> {
        run.fetch_add(1);
        co_return;
      }));
    }
    const bool have_run = spin_until([&] { return run.load() == count; });
    for (auto& child : children) co_await child;
    co_return have_run;
  };
  // One is in the LIFO slot; of more, the others are in the queue.
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(rt.block_on(test(1 + i % 3))) << i;
}

TEST_P(BesideALongPoll, WhatItWakesAgainAndAgainRuns) {
  if (!sys::heavy_fence()) GTEST_SKIP() << "this kernel has no membarrier";
  auto test = []() -> Async<bool> {
    bool all = true;
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> run = 0;
      auto child = [&run]() -> Async<void> {
        run.fetch_add(1);
        co_await yield_now();
        run.fetch_add(1);
      };
      auto first = spawn(child);
      all = all && spin_until([&] { return run.load() == 2; });
      // What was there was taken from the slot; it is good for another.
      auto second = spawn(child);
      all = all && spin_until([&] { return run.load() == 4; });
      co_await first;
      co_await second;
    }
    co_return all;
  };
  ASSERT_TRUE(rt.block_on(test()));
}

/// Called once in each task of a round: whether it is the third that this thread runs. A worker
/// takes several from its queue at once, so others are behind it that are in no queue any more.
std::atomic<int> begun_rounds = 1;
bool is_third_here(int round) {
  thread_local int last_round = 0;
  thread_local int run = 0;
  run = std::exchange(last_round, round) == round ? run + 1 : 1;
  return run == 3;
}

TEST_P(BesideALongPoll, TheTasksBehindItRun) {
  if (!sys::heavy_fence()) GTEST_SKIP() << "this kernel has no membarrier";
  constexpr int tasks = 64;
  auto test = []() -> Async<bool> {
    std::atomic<int> others = 0;
    std::atomic<bool> is_first = true;
    std::atomic<bool> all = true;
    const int round = begun_rounds.fetch_add(1);
    auto task = [&, round]() -> Async<void> {
      if (is_third_here(round) && is_first.exchange(false)) {
        all = spin_until([&] { return others.load() == tasks - 1; });
      } else {
        others.fetch_add(1);
      }
      co_return;
    };
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < tasks; ++i) handles.push_back(spawn(task));
    for (auto& handle : handles) co_await handle;
    co_return all;
  };
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(rt.block_on(test())) << i;
}

TEST_P(BesideALongPoll, WhenAllSleepNobodyWakesUpToWatch) {
  auto parks = [this] {
    std::uint64_t sum = 0;
    for (const WorkerMetrics& worker : rt.metrics().workers) sum += worker.parks;
    return sum;
  };
  EXPECT_EQ(rt.block_on([]() -> Async<int> { co_return 1; }()), 1);
  // The watch goes on for a moment. It has ended once many of its intervals pass without a look.
  EXPECT_TRUE(spin_until([&] {
    const std::uint64_t before = parks();
    std::this_thread::sleep_for(50ms);
    return parks() == before;
  }));
}

}  // namespace
}  // namespace rouse
