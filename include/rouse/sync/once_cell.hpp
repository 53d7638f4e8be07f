// OnceCell<T>: a value that is created once, by whoever needs it first; the others wait for it.
//
//   sync::OnceCell<Connection> connection;
//   Connection& c = co_await connection.get_or_init([] { return connect("..."); });
//
// (With GCC 12 name a capturing function: it destroys a lambda in a co_await twice.) Only one
// initializer runs at a time. If it throws or is dropped, another waiter runs its own. Once the
// value is set it stays, and costs one load. Whether several threads may use the value depends on
// T. Allocates nothing; works without exceptions and without an operating system.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/internal/wait_list.hpp"
#include "rouse/sync/internal/wait_until.hpp"

namespace rouse::sync {

/// Must outlive its futures, and all calls on it.
/// Threads: any.
template <class T>
class OnceCell {
  static_assert(std::is_object_v<T>, "OnceCell<T> of a reference or of void: use a pointer");

 public:
  template <class Fn>
  class GetOrInit;

  constexpr OnceCell() noexcept {}
  OnceCell(const OnceCell&) = delete;
  OnceCell& operator=(const OnceCell&) = delete;
  ~OnceCell() {
    if (is_set()) value_.~T();
  }

  /// The value, or null if it is not set yet. Does not wait.
  [[nodiscard]] T* get() noexcept { return is_set() ? &value_ : nullptr; }
  /// The value, or null if it is not set yet. Does not wait.
  [[nodiscard]] const T* get() const noexcept { return is_set() ? &value_ : nullptr; }
  // ORDER: acquire; sees the value.
  /// Whether the value is there.
  [[nodiscard]] bool is_set() const noexcept { return load() == State::set; }

  /// Sets the value. False: it is already set, or being created; then `value` was not touched.
  template <class U = T>
  bool set(U&& value) {
    if (!try_begin()) return false;
    EmptyIfThrown unwinding(*this);
    new (&value_) T(std::forward<U>(value));
    unwinding.dismiss();
    end_attempt(State::set);
    return true;
  }

  /// Completes with the value. If nobody else creates it, calls `fn`, which returns a T or a future
  /// of one. `fn` must not ask for the value of the same cell. Borrows the cell.
  /// Cancel safety: if dropped midway, its initializer is dropped too, and another waiter runs its
  /// own.
  /// Errors: throws what `fn` or its future throws; then the value is not set.
  template <class Fn>
  [[nodiscard]] GetOrInit<std::decay_t<Fn>> get_or_init(Fn&& fn) {
    return GetOrInit<std::decay_t<Fn>>(*this, std::forward<Fn>(fn));
  }

 private:
  enum class State : std::uint8_t { empty, busy, set };

  // ORDER: acquire; as in is_set.
  [[nodiscard]] State load() const noexcept { return state_.load(memory_order_acquire); }
  /// True: the caller creates the value.
  bool try_begin() noexcept {
    State expected = State::empty;
    // ORDER: acquire; comes after an attempt that was given up.
    return state_.compare_exchange_strong(expected, State::busy, memory_order_acquire,
                                          memory_order_relaxed);
  }
  void end_attempt(State state) noexcept {
    maker_.store(0, memory_order_relaxed);      // first: see Permits::holder
    state_.store(state, memory_order_release);  // ORDER: release; publishes the value.
    lock_.lock();
    internal::notify_all_and_unlock(lock_, waiters_);
  }

  /// Ends an attempt that throws.
  class EmptyIfThrown {
   public:
    explicit EmptyIfThrown(OnceCell& cell) noexcept : cell_(&cell) {}
    EmptyIfThrown(const EmptyIfThrown&) = delete;
    EmptyIfThrown& operator=(const EmptyIfThrown&) = delete;
    ~EmptyIfThrown() {
      if (cell_) cell_->end_attempt(State::empty);
    }
    void dismiss() noexcept { cell_ = nullptr; }

   private:
    OnceCell* cell_;
  };

  atomic<std::uint32_t> maker_{0};  // which task creates the value: Context::task_tag
  atomic<State> state_{State::empty};
  internal::SpinLock lock_;
  internal::WaitList waiters_;
  union {
    T value_;
  };
};

template <class T>
template <class Fn>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] OnceCell<T>::GetOrInit {
  using Made = std::invoke_result_t<Fn>;
  static constexpr bool makes_future = Future<Made>;
  struct NoWork {
    ROUSE_SHAPE(NoWork, nullptr, one)
  };
  using Work = std::conditional_t<makes_future, internal::Maybe<Made>, NoWork>;

 public:
  using Output = T&;

  GetOrInit(OnceCell& cell, Fn fn) : cell_{&cell}, fn_(std::move(fn)) {}
  GetOrInit(GetOrInit&&) = default;
  ~GetOrInit() {
    if (makes_) give_up();
    internal::stop_waiting(cell_->lock_, cell_->waiters_, waiter_);
  }

  Poll<T&> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    move_check_.set_polled();
    while (!makes_ && !cell_->is_set()) {
      makes_ = cell_->try_begin();
      if (makes_) cell_->maker_.store(cx.task_tag(), memory_order_relaxed);
      if (!makes_ && !internal::wait_until(cell_->lock_, cell_->waiters_, waiter_, cx,
                                           [this] { return cell_->load() != State::busy; }))
        return pending;
    }
    if (makes_ && !make(cx)) return pending;
    internal::stop_waiting(cell_->lock_, cell_->waiters_, waiter_);
    return Poll<T&>::ready(cell_->value_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(GetOrInit, "get_or_init", any_of, &GetOrInit::cell_, &GetOrInit::work_)

 private:
  /// False: not yet.
  bool make(Context& cx) {
    makes_ = false;  // if it throws, the attempt is over
    EmptyIfThrown unwinding(*cell_.it);
    if constexpr (makes_future) {
      if (!work_) work_.emplace(std::move(fn_)());
      auto made = (*work_).poll(cx);
      if (made.is_pending()) {
        unwinding.dismiss();
        makes_ = true;
        return false;
      }
      new (&cell_->value_) T(std::move(made).value());
      work_.reset();
    } else {
      new (&cell_->value_) T(std::move(fn_)());
    }
    unwinding.dismiss();
    cell_->end_attempt(State::set);
    return true;
  }

  /// Destroys the initializer before another one may begin.
  void give_up() noexcept {
    if constexpr (makes_future) work_.reset();
    cell_->end_attempt(State::empty);
  }

  struct Waiting : internal::Waiter {};
  struct Awaited {
    ROUSE_SHAPE(Awaited, "OnceCell", init, &Awaited::it)
    OnceCell* operator->() const noexcept { return it; }
    OnceCell* it;
  };
  Awaited cell_;
  [[no_unique_address]] Fn fn_;
  [[no_unique_address]] Work work_;  // what `fn` gave, while it runs
  bool makes_ = false;               // the cell is busy, with this
  internal::MovableUntilPolled move_check_;
  Waiting waiter_;
};

}  // namespace rouse::sync
