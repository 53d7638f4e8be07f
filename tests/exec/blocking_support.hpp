// What the tests of BlockingPool share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/spawner.hpp"

#include "exec/blocking/blocking_core.hpp"

namespace rouse {

using namespace internal;

/// Waits for something that another thread is about to do.
template <class Condition>
void until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

/// Brings a value from one thread to another, again and again.
template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    filled_.notify_one();
  }
  T take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return value_.has_value(); });
    return *std::exchange(value_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::optional<T> value_;
};

/// Starts so many threads and no more.
class ThreadSource {
 public:
  void allow(int threads) { *left_ = threads; }

  Result<sys::Thread> operator()(const sys::ThreadOptions& options, std::function<void()> body) {
    if (*left_ == 0) return std::errc::resource_unavailable_try_again;
    --*left_;
    return sys::Thread::start(options, std::move(body));
  }

 private:
  std::shared_ptr<std::atomic<int>> left_ = std::make_shared<std::atomic<int>>(0);
};

/// A pool that leaves no thread behind.
class ClosedAtEnd {
 public:
  explicit ClosedAtEnd(BlockingOptions options = {}) : pool_(std::move(options)) {}
  ClosedAtEnd(BlockingOptions options, const ThreadSource& source)
      : pool_(make_ref<BlockingCore>(std::move(options), nullptr, source)) {}
  ClosedAtEnd(const ClosedAtEnd&) = delete;
  ClosedAtEnd& operator=(const ClosedAtEnd&) = delete;
  ~ClosedAtEnd() {
    pool_.close();
    EXPECT_TRUE(pool_.wait());
    EXPECT_EQ(pool_.metrics().threads, 0U);
    EXPECT_EQ(pool_.metrics().idle_threads, 0U);
    EXPECT_EQ(pool_.metrics().queue_depth, 0U);
  }

  BlockingPool& operator*() { return pool_; }
  BlockingPool* operator->() { return &pool_; }

 private:
  BlockingPool pool_;
};

/// A call that runs, from the constructor's end to `release`, and gives 42.
class Blocker {
 public:
  explicit Blocker(BlockingPool& pool)
      : handle(pool.spawn([this] {
          began_.count_down();
          released_.wait();
          return 42;
        })) {
    began_.wait();
  }
  Blocker(const Blocker&) = delete;
  Blocker& operator=(const Blocker&) = delete;
  ~Blocker() {
    until([this] { return handle.is_finished(); });
  }

  void release() { released_.count_down(); }

 private:
  std::latch began_{1};
  std::latch released_{1};

 public:
  JoinHandle<int> handle;
};

/// A scheduler with a blocking pool, whose tasks run when the test says so.
class FakeRuntime final : public SharedScheduler {
 public:
  explicit FakeRuntime(BlockingOptions options = {})
      : SharedScheduler(nullptr), pool(std::move(options), this) {}

  ~FakeRuntime() override { when_destroyed(); }

  template <class... Work>
  auto spawn(Work&&... work) {
    return spawn_on(*this, {}, std::forward<Work>(work)...);
  }
  void submit(TaskHeader& task) override {
    add_ref();
    enqueue(task, Turn::last);
  }
  BlockingPool* blocking_pool() noexcept override { return &pool; }

  /// Runs tasks until `handle` is done, and gives what it gives.
  template <class T>
  T run_until(JoinHandle<T> handle) {
    while (!handle.is_finished()) {
      run_queued();
      std::this_thread::yield();
    }
    return block_on(handle);
  }
  void run_queued() {
    std::vector<TaskHeader*> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(queue_);
    }
    const ThreadContext before = this_thread;
    this_thread.scheduler = this;
    for (TaskHeader* task : tasks) {
      if (run(*task, nullptr) == Ran::again) enqueue(*task, Turn::last);
    }
    this_thread = before;
  }
  void shut_down() {
    pool.close();
    EXPECT_TRUE(pool.wait());
  }

  BlockingPool pool;
  std::function<void()> when_destroyed = [] {};

 private:
  void enqueue(TaskHeader& task, Turn) noexcept override {
    const std::lock_guard lock(mutex_);
    queue_.push_back(&task);
  }
  void untrack(TaskHeader&) noexcept override {}

  std::mutex mutex_;
  std::vector<TaskHeader*> queue_;
};

}  // namespace rouse
