// What the storms on LocalExecutor and ThreadPool share.
#pragma once

#include <atomic>
#include <thread>

#include "rouse/core/async.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/future/poll_fn.hpp"

namespace rouse::test {

/// That take part besides the executor's own.
constexpr int thread_count = 4;

/// Counts those that live.
class Count {
 public:
  explicit Count(std::atomic<int>& n) : count_(&n) { count_->fetch_add(1); }
  Count(const Count& other) : count_(other.count_) { count_->fetch_add(1); }
  Count& operator=(const Count&) = delete;
  ~Count() { count_->fetch_sub(1); }

 private:
  std::atomic<int>* count_;
};

/// Where `publish`, on a thread, and `follow`, in a task, meet.
class Cell {
 public:
  std::atomic<int> published{0};
  std::atomic<int> seen{0};
  AtomicWaker waker;
};

/// Publishes a number and wakes, once a round; goes on when the number was seen: so each wake
/// counts.
inline void publish(Cell* cell, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    cell->published.store(round);
    cell->waker.wake();
    while (cell->seen.load() < round) std::this_thread::yield();
  }
}

inline Async<void> follow(Cell* cell, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    auto is_published = [cell, round](Context& cx) -> Poll<void> {
      cell->waker.register_waker(cx.waker());
      if (cell->published.load() >= round) return Poll<void>::ready();
      return pending;
    };
    co_await poll_fn(is_published);
    cell->seen.store(round);
  }
}

}  // namespace rouse::test
