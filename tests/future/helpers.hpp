// What the tests of future/ share: a waker that counts, and a Gate: a future that is opened by hand
// from any thread and remembers what happened to it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"

namespace rouse::test {

using namespace internal;

class WakeCounter : public RefCounted<WakeCounter> {
 public:
  void wake() { count_.fetch_add(1); }
  int count() const { return count_.load(); }

 private:
  std::atomic<int> count_{0};
};

/// A waker that counts its wakes, with a context to poll with.
class CountingWaker {
 public:
  CountingWaker() = default;
  CountingWaker(const CountingWaker&) = delete;
  int wakes() const { return counter_->count(); }
  const Waker& waker() const { return waker_; }

 private:
  RefPtr<WakeCounter> counter_ = make_ref<WakeCounter>();
  Waker waker_ = make_waker(counter_);

 public:
  Context cx{waker_};
};

struct TestError : std::runtime_error {
  explicit TestError(const char* what) : std::runtime_error(what) {}
};

/// Counts its polls; ready as soon as it can take a step of the budget.
class TakesAStep {
 public:
  using Output = int;
  explicit TakesAStep(int& polls) : polls_(polls) {}
  Poll<int> poll(Context& cx) {
    ++polls_;
    if (!cx.take_budget()) return pending;
    return Poll<int>::ready(1);
  }

 private:
  int& polls_;
};

/// The handle; `future()` gives the future that waits for it.
template <class T = int>
class Gate {
  struct State {
    std::mutex mutex;
    std::optional<stored_t<T>> value;
    const char* error = nullptr;
    Waker waker;
    std::vector<Waker> kept;  // every waker seen, as a leaf might keep it
    int polls = 0;
    int alive = 0;
    int throw_at = 0;
    bool has_thrown = false;
  };

 public:
  class Wait {
   public:
    using Output = T;
    explicit Wait(std::shared_ptr<State> state) : state_(std::move(state)) { count(1); }
    Wait(Wait&& other) noexcept : state_(other.state_) { count(1); }
    ~Wait() { count(-1); }

    Poll<T> poll(Context& cx) {
      const std::lock_guard lock(state_->mutex);
      ++state_->polls;
      if (state_->polls == state_->throw_at || state_->error) {
        state_->has_thrown = true;
        throw TestError(state_->error ? state_->error : "thrown by the k-th poll");
      }
      if (!state_->value) {
        if (!state_->waker.will_wake(cx.waker())) {
          state_->waker = cx.waker();
          state_->kept.push_back(cx.waker());
        }
        return pending;
      }
      if constexpr (std::is_void_v<T>) {
        return Poll<T>::ready();
      } else if constexpr (std::is_reference_v<T>) {
        return Poll<T>::ready(**state_->value);
      } else {
        return Poll<T>::ready(std::move(*state_->value));
      }
    }

   private:
    void count(int change) {
      const std::lock_guard lock(state_->mutex);
      state_->alive += change;
    }
    std::shared_ptr<State> state_;
  };

  Wait future() { return Wait(state_); }

  template <class... Args>
  void open(Args&&... args) {
    change([&] { state_->value.emplace(std::forward<Args>(args)...); });
  }
  void fail(const char* what) {
    change([&] { state_->error = what; });
  }
  /// A wake without a reason.
  void wake() {
    change([] {});
  }
  /// Wakes every waker that was ever seen, and drops them.
  void wake_all_kept() {
    std::vector<Waker> kept;
    {
      const std::lock_guard lock(state_->mutex);
      kept = std::move(state_->kept);
      state_->waker = Waker();
    }
    for (Waker& waker : kept) {
      waker.wake_by_ref();
      std::move(waker).wake();
    }
  }
  void throw_at_poll(int number) { state_->throw_at = number; }

  int polls() const { return state_->polls; }
  int alive() const { return state_->alive; }
  bool has_thrown() const { return state_->has_thrown; }

 private:
  template <class Fn>
  void change(Fn&& fn) {
    Waker waker;
    {
      const std::lock_guard lock(state_->mutex);
      fn();
      waker = state_->waker;
    }
    if (waker) std::move(waker).wake();
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace rouse::test
