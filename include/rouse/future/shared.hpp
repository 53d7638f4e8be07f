// shared(f): a future that many may await: each copy of it gives a copy of the one output.
//
//   Shared config = shared(load_config());
//   for (auto& peer : peers) spawn(serve, std::move(peer), config).detach();   // co_await config
//
// Completes when `f` does, which is polled by whoever polls a copy, one at a time, and destroyed
// when it is ready. Each wake of `f` wakes all who wait. All copies throw what `f` threw. A copy
// may be awaited again: it gives the output again. One block of memory. Cancel safety: dropping a
// copy loses nothing; dropping the last one drops `f` midway. Threads: any; copies may be in
// different tasks, and `f` is polled in all of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

namespace internal {

/// A copy that waits. It belongs to whoever holds the lock.
class SharedWaiter : public RingLink {
 public:
  SharedWaiter() noexcept = default;
  Waker waker;
  bool is_waiting = false;  // it is in a list
};

/// What the copies have in common. They alone own the future in it; its wakers keep only the
/// memory.
///
/// Whoever turns `is_polled_` on, under the lock, has the future and the outcome to itself until it
/// turns it off; once `is_done_` is set they do not change any more. A wake during a poll is left
/// to the poller: a copy that comes meanwhile waits, and is woken with all others after that poll.
template <Future F>
class SharedState : public RefCounted<SharedState<F>> {
 public:
  explicit SharedState(F&& future)
      : future_(std::in_place, std::move(future)), borrows_(future_borrows(*future_)) {}

  /// True once the outcome is there. False: the latest context's waker will be woken.
  bool poll(SharedWaiter& waiter, Context& cx) {
    // ORDER: acquire; sees the outcome.
    if (is_done_.load(memory_order_acquire)) return true;
    Waker waker = cx.waker();  // cloned before the lock is taken; the old ones are dropped after it
    Waker own;
    SpinGuard guard(lock_);
    if (is_done_.load(memory_order_relaxed)) return true;
    std::swap(waiter.waker, waker);
    if (!std::exchange(waiter.is_waiting, true)) waiter.insert_before(waiters_);
    if (std::exchange(is_polled_, true)) return false;
    guard.unlock();

    const BorrowedWaker wakes_all(RawWaker(this, &SharedWaker<SharedState>::vtable));
    Context future_cx(wakes_all.get(), cx);
    bool is_done = false;
    {
      const PollOfNoTask here(cx);  // another task may go on with it
      is_done = finish_into(outcome_, future_, future_cx);
    }

    guard.lock();
    is_polled_ = false;
    if (is_done) {
      own = remove(waiter);
      // ORDER: release; publishes the outcome.
      is_done_.store(true, memory_order_release);
    }
    if (std::exchange(is_woken_, false) || is_done) wake_all(guard);
    return is_done;
  }

  /// What the future's waker calls.
  void wake() {
    SpinGuard guard(lock_);
    if (is_polled_) {
      is_woken_ = true;
    } else {
      wake_all(guard);
    }
  }

  /// Only after `poll` was true.
  Outcome<output_t<F>>& outcome() noexcept { return outcome_; }
  [[nodiscard]] bool borrows() const noexcept { return borrows_; }

  void add_owner() noexcept { owners_.fetch_add(1, memory_order_relaxed); }
  void drop_owner(SharedWaiter& waiter) noexcept {
    Waker dropped;  // after the guard
    {
      const SpinGuard guard(lock_);
      dropped = remove(waiter);
    }
    // ORDER: acq_rel; release publishes what this copy did, acquire lets the last one see all.
    if (owners_.fetch_sub(1, memory_order_acq_rel) != 1) return;
    future_.reset();
    outcome_.reset();
  }

 private:
  /// With the lock held. Its waker is for the caller to drop without it.
  static Waker remove(SharedWaiter& waiter) noexcept {
    if (std::exchange(waiter.is_waiting, false)) waiter.unlink();
    return std::move(waiter.waker);
  }
  /// The guard holds the lock; not while a waker is called. Who waits anew is not woken.
  void wake_all(SpinGuard& guard) {
    RingHead woken;
    waiters_.move_to(woken);
    while (!woken.empty()) {
      Waker waker = remove(static_cast<SharedWaiter&>(*woken.next()));
      guard.unlock();
      std::move(waker).wake();
      guard.lock();
    }
  }

  SpinLock lock_;
  bool is_polled_ = false;
  bool is_woken_ = false;  // during the poll
  RingHead waiters_;
  atomic<bool> is_done_{false};
  atomic<std::size_t> owners_{1};
  Maybe<F> future_;
  Outcome<output_t<F>> outcome_;
  const bool borrows_;
};

}  // namespace internal

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Shared {
 public:
  using Output = output_t<F>;

  explicit Shared(F future) : state_(make_ref<internal::SharedState<F>>(std::move(future))) {}
  /// Another one, also of one that was polled; not of one that was moved from.
  Shared(const Shared& other) noexcept : state_(other.state_) {
    ROUSE_ASSERT(state_, "copy of a Shared that was moved from: copy the one it went to");
    state_->add_owner();
  }
  /// Before its first poll.
  Shared(Shared&& other) noexcept
      : state_(std::move(other.state_)), move_check_(std::move(other.move_check_)) {}
  ~Shared() {
    if (state_) state_->drop_owner(waiter_);
  }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(state_, "use of a Shared that was moved from: use the one it went to");
    move_check_.set_polled();
    if (!state_->poll(waiter_, cx)) return pending;
    auto& outcome = state_->outcome();
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    if constexpr (std::is_void_v<Output>) {
      return Poll<Output>::ready();
    } else if constexpr (std::is_reference_v<Output>) {
      return Poll<Output>::ready(*outcome.stored());
    } else {
      return Poll<Output>::ready(std::as_const(outcome.stored()));
    }
  }

  /// Whether the future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return state_ && state_->borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Shared, "shared", notify, &Shared::state_)

 private:
  RefPtr<internal::SharedState<F>> state_;
  internal::SharedWaiter waiter_;
  internal::MovableUntilPolled move_check_;
};

template <class F>
auto shared(F&& future) {
  using Kept = std::remove_cvref_t<F>;
  constexpr bool can_keep = Future<Kept> && internal::Keepable<F>;
  static_assert(can_keep, "shared needs a future that it can keep: write shared(std::move(f))");
  if constexpr (can_keep) {
    constexpr bool can_copy = std::is_void_v<output_t<Kept>> ||
                              std::is_reference_v<output_t<Kept>> ||
                              std::copy_constructible<output_t<Kept>>;
    static_assert(can_copy,
                  "shared(f): the output of f can't be copied: let it give a shared owner");
    if constexpr (can_copy) return Shared<Kept>(Kept(std::forward<F>(future)));
  }
}

}  // namespace rouse
