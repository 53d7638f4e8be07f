// StaticExecutor woken from other threads; meant for the thread sanitizer too. Every event is
// waited for before the next one is made, so one lost wake is a hang.
#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/atomic_waker.hpp"
#include "rouse/embedded/static_executor.hpp"

namespace {
using rouse::AtomicWaker;
using rouse::Context;
using rouse::pending;
using rouse::Poll;
using rouse::StaticExecutor;
using rouse::Waker;

/// Ends the wait of an idle executor: a sticky event.
class Bell {
 public:
  std::uint32_t strokes() const { return strokes_.load(std::memory_order_acquire); }
  void wait_for_another_than(std::uint32_t seen) const { strokes_.wait(seen); }
  void ring() {
    strokes_.fetch_add(1, std::memory_order_release);
    strokes_.notify_one();
  }

 private:
  std::atomic<std::uint32_t> strokes_{0};
};
Bell bell;

template <std::size_t N>
void run_until_done(StaticExecutor<N>& executor) {
  executor.run([](const auto& ex) {
    const std::uint32_t seen = bell.strokes();
    if (!ex.needs_run()) bell.wait_for_another_than(seen);
  });
}

/// Receives numbers in order through plain memory: only the wake says that there is a new one and
/// publishes it, so the thread sanitizer sees an order that is too weak.
class Receiver {
 public:
  using Output = void;
  explicit Receiver(int last) : last_(last) {}

  Poll<> poll(Context& cx) {
    if (received.load(std::memory_order_relaxed) == -1) {
      waker = cx.waker();
    } else {
      EXPECT_EQ(payload, received.load(std::memory_order_relaxed) + 1);
    }
    const int now = received.fetch_add(1, std::memory_order_release) + 1;
    return now == last_ ? Poll<>::ready() : Poll<>(pending);
  }

  Waker waker;
  int payload = 0;
  std::atomic<int> received{-1};

 private:
  int last_;
};

/// Keeps the executor in rounds until the other tasks have ended.
class Busy {
 public:
  using Output = void;
  explicit Busy(const StaticExecutor<70>& executor) : executor_(executor) {}
  Poll<> poll(Context& cx) {
    if (executor_.live() == 1) return Poll<>::ready();
    if (++polls_ % 64 == 0) std::this_thread::yield();
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  const StaticExecutor<70>& executor_;
  unsigned polls_ = 0;
};

/// Four threads send to a receiver each, three of them in the same word of the executor.
void send_and_receive(StaticExecutor<70>& executor, int count) {
  std::deque<Receiver> receivers;
  while (executor.live() < 69) {
    receivers.emplace_back(receivers.size() % 22 == 0 ? count : 0);
    ASSERT_TRUE(executor.spawn(receivers.back()));
  }
  executor.run_once();  // everybody's waker is known, and those who wait for nothing have ended

  std::vector<std::thread> senders;
  for (const std::size_t i : {0u, 22u, 44u, 66u}) {
    senders.emplace_back([&to = receivers[i], count] {
      for (int sent = 1; sent <= count; ++sent) {
        to.payload = sent;
        to.waker.wake_by_ref();
        while (to.received.load(std::memory_order_acquire) != sent) std::this_thread::yield();
      }
    });
  }
  run_until_done(executor);
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(executor.live(), 0u);
}

TEST(StaticExecutorThreads, AnExecutorThatSleepsLosesNoWake) {
  static StaticExecutor<70> executor([]() noexcept { bell.ring(); });
  send_and_receive(executor, 10000);
}

TEST(StaticExecutorThreads, AnExecutorInItsRoundLosesNoWake) {
  static StaticExecutor<70> executor;
  Busy busy(executor);
  ASSERT_TRUE(executor.spawn(busy));
  send_and_receive(executor, 2000);
}

/// A wake that finds the task woken already publishes too.
TEST(StaticExecutorThreads, TheSecondOfTwoWakesPublishesToo) {
  struct Sum {
    using Output = void;
    Poll<> poll(Context& cx) {
      waker = cx.waker();
      total = 0;
      for (int part : parts) total += part;
      return pending;
    }
    Waker waker;
    int parts[3] = {};
    int total = 0;
  };
  static StaticExecutor<1> executor;
  static Sum sum;
  ASSERT_TRUE(executor.spawn(sum));
  executor.run_once();
  for (int round = 1; round <= 200; ++round) {
    std::atomic<int> finished{0};
    std::vector<std::thread> threads;
    for (int& part : sum.parts) {
      threads.emplace_back([&part, &finished, round] {
        part = round;
        sum.waker.wake_by_ref();
        finished.fetch_add(1, std::memory_order_relaxed);  // orders nothing
      });
    }
    while (finished.load(std::memory_order_relaxed) != 3) std::this_thread::yield();
    while (executor.run_once()) {
    }
    EXPECT_EQ(sum.total, 3 * round);
    for (std::thread& thread : threads) thread.join();
  }
}

/// Wakers used while their task ends and its slot is given to the next.
TEST(StaticExecutorThreads, StaleWakersDisturbNothing) {
  struct Short {
    using Output = void;
    Poll<> poll(Context& cx) {
      ++polls;
      slot->register_waker(cx.waker());
      return polls > 3 ? Poll<>::ready() : Poll<>(pending);
    }
    AtomicWaker* slot;
    int polls = 0;
  };
  static StaticExecutor<2> executor;
  static AtomicWaker shared;
  std::atomic<bool> stop{false};
  auto disturb = [&stop] {
    Waker kept;
    while (!stop.load()) {
      if (Waker taken = shared.take()) kept = std::move(taken);
      if (kept) kept.wake_by_ref();
      std::this_thread::yield();
    }
  };
  std::thread first(disturb), second(disturb);
  for (int task = 0; task < 200; ++task) {
    Short future{&shared};
    ASSERT_TRUE(executor.spawn(future));
    executor.run([](const auto&) { std::this_thread::yield(); });
    EXPECT_EQ(future.polls, 4);
  }
  stop = true;
  first.join();
  second.join();
}
}  // namespace
