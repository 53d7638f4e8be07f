// The blocking half of the seam in a model-checked build: threads, locks, condition variables.
// Threads and condition variables exist inside a model only. A mutex outside of one spins.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/model/internal/hooks.hpp"

namespace rouse::model {

class CheckedMutex {
 public:
  constexpr CheckedMutex() noexcept {
    if (!std::is_constant_evaluated()) object_made(stamp_);
  }
  CheckedMutex(const CheckedMutex&) = delete;
  CheckedMutex& operator=(const CheckedMutex&) = delete;
  constexpr ~CheckedMutex() {
    if (!std::is_constant_evaluated()) mutex_destroyed(this, stamp_);
  }

  void lock(Where where = Where::current()) {
    if (inside()) return mutex_lock(this, stamp_, where);
    while (__atomic_test_and_set(&locked_, __ATOMIC_ACQUIRE)) {
    }
  }
  bool try_lock(Where where = Where::current()) {
    if (inside()) return mutex_try_lock(this, stamp_, where);
    return !__atomic_test_and_set(&locked_, __ATOMIC_ACQUIRE);
  }
  void unlock(Where where = Where::current()) {
    if (inside()) return mutex_unlock(this, stamp_, where);
    __atomic_clear(&locked_, __ATOMIC_RELEASE);
  }

 private:
  friend class CheckedCondVar;
  Stamp stamp_;
  bool locked_ = false;  // outside of a model
};

class CheckedCondVar {
 public:
  CheckedCondVar() noexcept { object_made(stamp_); }
  CheckedCondVar(const CheckedCondVar&) = delete;
  CheckedCondVar& operator=(const CheckedCondVar&) = delete;
  ~CheckedCondVar() { condition_destroyed(this, stamp_); }

  void wait(std::unique_lock<CheckedMutex>& lock, Where where = Where::current()) {
    wait_at_most(lock, no_limit, where);
  }
  template <class Predicate>
  void wait(std::unique_lock<CheckedMutex>& lock, Predicate predicate,
            Where where = Where::current()) {
    while (!predicate()) wait(lock, where);
  }
  /// False: the time has passed.
  bool wait_at_most(std::unique_lock<CheckedMutex>& lock, std::uint64_t ns,
                    Where where = Where::current()) {
    CheckedMutex& mutex = *lock.mutex();
    return condition_wait(this, stamp_, &mutex, mutex.stamp_, ns, where);
  }
  void notify_one(Where where = Where::current()) noexcept {
    condition_notify(this, stamp_, false, where);
  }
  void notify_all(Where where = Where::current()) noexcept {
    condition_notify(this, stamp_, true, where);
  }

 private:
  Stamp stamp_;
};

class CheckedThread {
 public:
  CheckedThread() noexcept = default;
  template <class Function, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, CheckedThread>)
  explicit CheckedThread(Function&& function, Args&&... args) {
    using Call = std::tuple<std::decay_t<Function>, std::decay_t<Args>...>;
    auto call =
        std::make_unique<Call>(std::forward<Function>(function), std::forward<Args>(args)...);
    number_ = thread_start(
        [](void* data) {
          const std::unique_ptr<Call> owned(static_cast<Call*>(data));
          std::apply([](auto&&... parts) { std::invoke(std::move(parts)...); }, std::move(*owned));
        },
        call.get(), Where::current());
    [[maybe_unused]] Call* const threads_own = call.release();
    joinable_ = true;
  }
  CheckedThread(CheckedThread&& other) noexcept
      : number_(other.number_), joinable_(std::exchange(other.joinable_, false)) {}
  CheckedThread& operator=(CheckedThread&& other) noexcept {
    if (joinable_) misused("a thread was replaced before it was joined or detached");
    number_ = other.number_;
    joinable_ = std::exchange(other.joinable_, false);
    return *this;
  }
  ~CheckedThread() {
    if (joinable_) misused("a thread was destroyed before it was joined or detached");
  }

  [[nodiscard]] bool joinable() const noexcept { return joinable_; }
  void join(Where where = Where::current()) {
    if (!joinable_) misused("join of a thread that was joined or detached before");
    joinable_ = false;
    thread_join(number_, where);
  }
  void detach() noexcept { joinable_ = false; }

 private:
  std::uint32_t number_ = 0;
  bool joinable_ = false;
};

}  // namespace rouse::model
