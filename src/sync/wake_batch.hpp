// WakeBatch: the waiters of a WaitList that somebody notifies, until its lock is released.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {

/// Waiters to notify and wake after unlocking.
class WaitList::WakeBatch {
 public:
  WakeBatch() noexcept {}
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;
  ~WakeBatch() { ROUSE_ASSERT(size_ == 0, "a WakeBatch was not woken"); }

  /// Wake them before adding more.
  [[nodiscard]] bool is_full() const noexcept { return size_ == capacity; }

  /// Takes a waiter out of the list where it waits, under the lock.
  void take(Waiter& waiter) noexcept {
    waiter.unlink();
    waiter.state_.store(Waiter::State::taken, memory_order_relaxed);
    waiters_[size_++] = &waiter;
  }

  /// Notifies and wakes them. Without the lock.
  void wake_all() noexcept {
    Wakers wakers;
    for (std::size_t i = 0; i < size_; ++i) {
      Waiter& waiter = *waiters_[i];
      new (&wakers.at[i]) Waker(waiter.take_waker());
      // ORDER: release; publishes what the notifier wrote to the future that sees it.
      waiter.state_.store(Waiter::State::notified, memory_order_release);
    }
    const std::size_t size = std::exchange(size_, 0);
    for (std::size_t i = 0; i < size; ++i) {
      if (wakers.at[i]) std::move(wakers.at[i]).wake();
      wakers.at[i].~Waker();
    }
  }

 private:
  static constexpr std::size_t capacity = model_checker ? 2 : 32;  // a model is to see it full
  /// Made one by one.
  union Wakers {
    Wakers() noexcept {}
    ~Wakers() {}
    Waker at[capacity];
  };

  std::size_t size_ = 0;
  Waiter* waiters_[capacity];
};
using WakeBatch = WaitList::WakeBatch;

}  // namespace rouse::internal
