// Sleep: a future that is ready after a while. Each one has a thread that sleeps and then wakes the
// task, so that the examples need no timer. (One thread per sleep is the price; heap_timer.cpp
// shows how one thread serves them all.) Cancel safety: dropping it ends its thread at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <rouse/core/future.hpp>

class Sleep {
 public:
  using Output = void;

  explicit Sleep(std::chrono::steady_clock::duration time)
      : shared_(std::make_shared<Shared>()),
        thread_([shared = shared_, time](const std::stop_token& dropped) {
          shared->sleep(time, dropped);
        }) {}

  rouse::Poll<void> poll(rouse::Context& cx) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->over) return rouse::Poll<void>::ready();
    rouse::keep_waker(shared_->waker, cx);
    return rouse::pending;
  }

 private:
  /// What the future and its thread have in common.
  struct Shared {
    void sleep(std::chrono::steady_clock::duration time, const std::stop_token& dropped) {
      rouse::Waker to_wake;
      {
        std::unique_lock lock(mutex);
        dropped_early.wait_for(lock, dropped, time, [] { return false; });
        over = true;
        to_wake = std::exchange(waker, {});
      }
      // Not under the lock: a waker may do anything, even poll the future at once.
      if (to_wake) std::move(to_wake).wake();
    }

    std::mutex mutex;
    std::condition_variable_any dropped_early;
    bool over = false;
    rouse::Waker waker;
  };

  std::shared_ptr<Shared> shared_;
  std::jthread thread_;  // its destructor asks the thread to stop, and waits for that
};
