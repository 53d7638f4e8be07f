// Notify: tells one waiting future, or all of them, that something happened. It carries no value:
// check the condition when notified.
//
//   notify.notify_one();             // wakes the first waiter; if there is none, stores one permit
//   co_await notify.notified();      // takes the permit at once, or waits
//   notify.notify_waiters();         // wakes all whose `notified()` was called before; no permit
//
// Fair: first come, first notified. If a future was notified by `notify_one` and is dropped before
// it saw that, the notification goes to the next. Allocates nothing; works without exceptions and
// without an operating system.
//
// Invariants:
//  - `state_` is empty, waiting or permit, and counts the calls of notify_waiters. It is `waiting`
//    exactly while `waiters_` has an entry; only the holder of the lock changes it to and from
//    that. The rest needs no lock.
//  - A future remembers the count of its making: another count means that it is notified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::sync {

/// Must outlive its futures, and all calls on it.
/// Threads: any.
class ROUSE_API Notify {
 public:
  class Notified;

  constexpr Notify() noexcept = default;

  /// Completes when it is notified: by a stored permit, by `notify_one` once it was polled and is
  /// first in line, or by a `notify_waiters` that is called after this. Borrows the Notify.
  /// Cancel safety: an unseen `notify_one` goes to the next in line, or is stored.
  [[nodiscard]] Notified notified() noexcept;

  /// Notifies the longest waiter. If there is none, the next `notified()` is ready at once; however
  /// often that happens, only one permit is stored.
  void notify_one() noexcept { notify(Cause::first); }
  /// The same with the latest waiter: for waiters of which any will do, the one whose memory is
  /// still in the cache.
  void notify_last() noexcept { notify(Cause::last); }
  /// Notifies all whose `notified()` was called before, polled or not. Stores no permit.
  void notify_waiters() noexcept {
    State state = state_.load(memory_order_relaxed);
    while (phase(state) != waiting) {
      // ORDER: release; publishes what the caller did to whoever sees the count.
      if (state_.compare_exchange_weak(state, state + one_call, memory_order_release,
                                       memory_order_relaxed))
        return;
    }
    notify_all_waiting();
  }

 private:
  using State = std::size_t;
  static constexpr State empty = 0;
  static constexpr State waiting = 1;
  static constexpr State permit = 2;
  static constexpr State phase_mask = 3;
  static constexpr State one_call = 4;
  static constexpr State phase(State state) noexcept { return state & phase_mask; }
  static constexpr State calls(State state) noexcept { return state & ~phase_mask; }

  /// Who is notified: all, the first in line, or the last.
  enum class Cause : std::uint8_t { all, first, last };
  struct Waiting : internal::Waiter {
    Cause cause = Cause::all;  // until notify_one takes it
  };

  // ORDER: acquire; whoever sees a new count sees what was done before that notify_waiters.
  State load() const noexcept { return state_.load(memory_order_acquire); }

  /// Stores a permit, if nobody waits. False: somebody waits, and `state` says so.
  bool keep_permit(State& state) noexcept {
    while (phase(state) != waiting) {
      // ORDER: release; publishes what the notifier did to the future that takes the permit.
      if (state_.compare_exchange_weak(state, calls(state) | permit, memory_order_release,
                                       memory_order_relaxed))
        return true;
    }
    return false;
  }

  void notify(Cause cause) noexcept {
    State state = state_.load(memory_order_relaxed);
    if (!keep_permit(state)) notify_waiting(cause);
  }
  // notify.cpp.
  void notify_waiting(Cause cause) noexcept;
  void notify_all_waiting() noexcept;
  void leave_waiting_if_last() noexcept;

  // The future's side. `made_at` is the count of its making.

  /// Without the lock. True: notified.
  bool try_take(State made_at) noexcept {
    State state = load();
    if (calls(state) != made_at) return true;
    // ORDER: acquire; sees what the notifier did.
    return phase(state) == permit &&
           state_.compare_exchange_strong(state, calls(state), memory_order_acquire,
                                          memory_order_relaxed);
  }
  /// True: notified, after all. Else `waiter` is in line.
  bool take_or_wait(Waiting& waiter, State made_at, Waker waker) noexcept;
  bool poll_waiting(Waiting& waiter, State made_at, Context& cx);
  void withdraw(Waiting& waiter) noexcept;
  /// The future is dropped while its waiter is in line or notified.
  void abandon(Waiting& waiter) noexcept;

  atomic<State> state_{empty};
  internal::SpinLock lock_;
  internal::WaitList waiters_;
};

class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] Notify::Notified {
 public:
  using Output = void;

  explicit Notified(Notify& notify) noexcept : notify_(&notify), made_at_(calls(notify.load())) {}
  Notified(Notified&&) noexcept = default;
  ~Notified() {
    if (!waiter_.is_fresh()) notify_->abandon(waiter_);
  }

  Poll<> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    return is_notified(cx) ? Poll<>::ready() : Poll<>(pending);
  }

  /// Gets in line without waiting: from now on a `notify_one` counts for this future. True: it is
  /// already notified; await it all the same. As after a poll, it must not be moved any more.
  bool enable() noexcept {
    if (!notify_) return true;
    if (!waiter_.is_fresh()) return waiter_.is_notified();
    if (!notify_->try_take(made_at_) && !notify_->take_or_wait(waiter_, made_at_, Waker()))
      return false;
    notify_ = nullptr;
    return true;
  }

  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Notified, "Notify", notify, &Notified::notify_)

 private:
  bool is_notified(Context& cx) {
    if (!notify_) return true;
    const bool notified = waiter_.is_fresh()
                              ? notify_->try_take(made_at_) ||
                                    notify_->take_or_wait(waiter_, made_at_, Waker(cx.waker()))
                              : notify_->poll_waiting(waiter_, made_at_, cx);
    if (!notified) return false;
    waiter_.reset();  // it has seen it: nothing is passed on
    notify_ = nullptr;
    return true;
  }

  Waiting waiter_;
  Notify* notify_;  // null once it was notified and has seen it
  State made_at_;
};

inline Notify::Notified Notify::notified() noexcept { return Notified(*this); }

}  // namespace rouse::sync
