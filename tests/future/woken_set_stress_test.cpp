// join_all and FuturesUnordered while other threads wake their children and drop their wakers.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/join_all.hpp"

#include "future/helpers.hpp"

namespace rouse::test {
namespace {

/// Parks the polling thread until it is woken.
class Parker : public RefCounted<Parker> {
 public:
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  /// A lost wake shows as a timeout.
  bool park() {
    std::unique_lock lock(mutex_);
    const bool woken = changed_.wait_for(lock, std::chrono::seconds(30), [this] { return woken_; });
    woken_ = false;
    return woken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

constexpr int thread_count = 4;

/// Wakes and opens gates at random from four threads, each gate in the end.
class Wakers {
 public:
  explicit Wakers(std::vector<Gate<int>>& gates) {
    for (int t = 0; t < thread_count; ++t) {
      threads_.emplace_back([&gates, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        const auto count = gates.size();
        for (std::size_t i = 0; i < 2 * count; ++i) gates[random() % count].wake();
        for (auto i = static_cast<std::size_t>(t); i < count; i += thread_count) {
          gates[i].open(static_cast<int>(i));
          gates[random() % count].wake();
          if (random() % 4 == 0) gates[random() % count].wake_all_kept();
        }
      });
    }
  }
  ~Wakers() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

constexpr int gate_count = 500;
constexpr int rounds = 40;

TEST(WokenSetStress, JoinAllLosesNoWake) {
  for (int round = 0; round < rounds; ++round) {
    auto parker = make_ref<Parker>();
    const Waker waker = make_waker(parker);
    Context cx(waker);
    std::vector<Gate<int>> gates(gate_count);
    std::vector<Gate<int>::Wait> futures;
    for (auto& gate : gates) futures.push_back(gate.future());
    auto future = join_all(std::move(futures));
    const Wakers wakers(gates);
    for (;;) {
      auto poll = future.poll(cx);
      if (poll.is_ready()) {
        for (int i = 0; i < gate_count; ++i) {
          EXPECT_EQ(poll.value()[static_cast<std::size_t>(i)], i);
        }
        break;
      }
      ASSERT_TRUE(parker->park()) << "a wake was lost";
    }
  }
}

TEST(WokenSetStress, FuturesUnorderedLosesNoWake) {
  for (int round = 0; round < rounds; ++round) {
    auto parker = make_ref<Parker>();
    const Waker waker = make_waker(parker);
    Context cx(waker);
    std::vector<Gate<int>> gates(gate_count);
    FuturesUnordered<Gate<int>::Wait> set;
    const Wakers wakers(gates);
    std::size_t pushed = 0;
    int done = 0;
    while (done < gate_count) {
      for (int i = 0; i < 3 && pushed < gates.size(); ++i) set.push(gates[pushed++].future());
      auto poll = set.poll_next(cx);
      if (poll.is_ready()) {
        if (poll.value()) ++done;
      } else if (pushed == gates.size()) {
        ASSERT_TRUE(parker->park()) << "a wake was lost";
      }
    }
    EXPECT_TRUE(set.empty());
  }
}

TEST(WokenSetStress, TheSetMayEndWhileItsChildrenAreWoken) {
  for (int round = 0; round < 200; ++round) {
    std::vector<Gate<int>> gates(32);
    const Waker waker = make_waker(make_ref<Parker>());
    Context cx(waker);
    std::vector<Gate<int>::Wait> futures;
    FuturesUnordered<Gate<int>::Wait> set;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      if (i % 2) {
        futures.push_back(gates[i].future());
      } else {
        set.push(gates[i].future());
      }
    }
    std::optional all(join_all(std::move(futures)));
    bool all_ready = all->poll(cx).is_ready();
    static_cast<void>(set.poll_next(cx));
    {
      const Wakers wakers(gates);
      for (int i = 0; i < round % 50; ++i) {
        if (!all_ready) all_ready = all->poll(cx).is_ready();
        static_cast<void>(set.poll_next(cx));
      }
      all.reset();
      set.clear();
      set.push(gates[0].future());
    }
  }
}

/// A child and the thread that wakes it, with nothing between them but the wake.
struct Mailbox {
  Waker waker;
  std::atomic<bool> has_waker{false};
  int letter = 0;
};

class Letter {
 public:
  using Output = int;
  explicit Letter(Mailbox& box) : box_(box) {}
  Poll<int> poll(Context& cx) {
    if (polled_) return Poll<int>::ready(box_.letter);
    polled_ = true;
    box_.waker = cx.waker();
    box_.has_waker.store(true, std::memory_order_release);
    return pending;
  }

 private:
  Mailbox& box_;
  bool polled_ = false;
};

TEST(WokenSetStress, AChildSeesWhatWasDoneBeforeItWasWoken) {
  std::vector<Mailbox> boxes(4'000);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&boxes, t] {
      for (std::size_t i = t; i < boxes.size(); i += thread_count) {
        while (!boxes[i].has_waker.load(std::memory_order_acquire)) std::this_thread::yield();
        boxes[i].letter = 1;
        std::move(boxes[i].waker).wake();
      }
    });
  }
  std::vector<Letter> letters;
  FuturesUnordered<Letter> set;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (i < boxes.size() / 2) {
      letters.emplace_back(boxes[i]);
    } else {
      set.push(Letter(boxes[i]));
    }
  }
  Context cx(Waker::noop());
  int sum = 0;
  auto all = join_all(std::move(letters));
  for (bool all_ready = false; !all_ready || !set.empty();) {
    if (!all_ready) {
      auto poll = all.poll(cx);
      all_ready = poll.is_ready();
      if (all_ready) {
        for (const int letter : poll.value()) sum += letter;
      }
    }
    auto next = set.poll_next(cx);
    if (next.is_ready()) sum += next.value().value_or(0);
  }
  EXPECT_EQ(sum, 4'000);
  for (std::thread& thread : threads) thread.join();
}

/// The waker's thread has marked the child but not queued it when the set closes: it must then free
/// what the queue would have (seen by the leak sanitizer).
TEST(WokenSetStress, AWakeMayComeAtTheMomentTheSetEnds) {
  std::vector<Mailbox> boxes(20'000);
  std::thread waker([&boxes] {
    for (Mailbox& box : boxes) {
      while (!box.has_waker.load(std::memory_order_acquire)) spin_hint();
      std::move(box.waker).wake();
    }
  });
  Context cx(Waker::noop());
  int delay = 0;
  for (Mailbox& box : boxes) {
    FuturesUnordered<Letter> set;
    set.push(Letter(box));
    EXPECT_TRUE(set.poll_next(cx).is_pending());
    delay = (delay + 1) % 40;
    for (int i = 0; i < delay; ++i) spin_hint();
  }
  waker.join();
}

}  // namespace
}  // namespace rouse::test
