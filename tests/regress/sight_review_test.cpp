// What a review of sight found. The test failed before its fix.
#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/waker.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sight/start.hpp"

namespace {

using namespace rouse;

struct AtTheEnd {
  static constexpr std::size_t tasks = 100;
  std::vector<Waker> wakers{tasks};
  std::atomic<std::size_t> waiting{0};
  std::atomic<bool> is_blocked{false};
  std::atomic<bool> is_swept{false};
  std::atomic<bool> is_waking{false};
};

/// Leaves its only waker there. It is large, so that its task is no block of the pool, whose reuse
/// a sanitizer would not see.
class LeavesItsWaker {
 public:
  using Output = void;
  LeavesItsWaker(AtTheEnd& end, std::size_t number) noexcept : end_(&end), number_(number) {}

  Poll<void> poll(Context& cx) {
    end_->wakers[number_] = cx.waker();
    ++end_->waiting;
    return pending;
  }

 private:
  AtTheEnd* end_;
  std::size_t number_;
  [[maybe_unused]] char large_[32768] = {};
};

/// The sweep begins with this one. It waits until another thread wakes those behind.
class SweptFirst {
 public:
  using Output = void;
  explicit SweptFirst(AtTheEnd& end) noexcept : end_(&end) {}
  SweptFirst(SweptFirst&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  SweptFirst& operator=(SweptFirst&&) = delete;
  ~SweptFirst() {
    if (end_ == nullptr) return;
    end_->is_swept = true;
    while (!end_->is_waking) std::this_thread::yield();
  }

  Poll<void> poll(Context& cx) {
    waker_ = cx.waker();
    ++end_->waiting;
    return pending;
  }

 private:
  AtTheEnd* end_;
  Waker waker_;
};

/// Its thread has no worker any more when it wakes them, the last one first.
Async<void> wake_all(AtTheEnd* end) {
  while (end->waiting != AtTheEnd::tasks + 1) co_await yield_now();
  block_in_place([end] {
    end->is_blocked = true;
    while (!end->is_swept) std::this_thread::yield();
  });
  end->is_waking = true;
  for (std::size_t left = AtTheEnd::tasks; left != 0; --left)
    std::move(end->wakers[left - 1]).wake();
}

/// The sweep may free a task between its wake and its record. Under a thread sanitizer that is a
/// data race.
TEST(Recorded, AWakeWhileThePoolIsSwept) {
  const auto recording = sight::start(sight::Options().record());
  for (int round = 0; round < 60; ++round) {
    AtTheEnd end;
    ThreadPoolOptions options;
    options.workers = 1;
    const ThreadPool pool(options);
    pool.spawn(SweptFirst(end)).detach();
    for (std::size_t i = 0; i < AtTheEnd::tasks; ++i) pool.spawn(LeavesItsWaker(end, i)).detach();
    pool.spawn(wake_all, &end).detach();
    while (!end.is_blocked) std::this_thread::yield();
  }
}

}  // namespace
