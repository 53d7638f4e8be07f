// SetOnce<T>: a value that is set once, by one task, and that others wait for.
//
//   sync::SetOnce<Config> config;
//   const Config& c = co_await config.wait();      // any number of tasks, before and after
//   config.set(load());                            // false: it was set before
//
// In contrast to OnceCell nobody who waits creates the value. Once it is set it stays, and costs
// one load. Whether several threads may use the value depends on T. Allocates nothing.
//
// A OnceCell and a Notify: the value is set before `notify_waiters`, and a future asks for the
// notification before it looks for the value, so it misses none.
#pragma once

#include <utility>

#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/once_cell.hpp"

namespace rouse::sync {

/// Must outlive its futures, and all calls on it.
/// Threads: any.
template <class T>
class SetOnce {
 public:
  class Wait;

  constexpr SetOnce() noexcept = default;
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;
  ~SetOnce() = default;

  /// Sets the value and wakes all who wait. False: it is already set, or being set; then `value`
  /// was not touched. Throws what constructing the T throws; then nothing is set.
  template <class U = T>
  bool set(U&& value) {
    if (!cell_.set(std::forward<U>(value))) return false;
    was_set_.notify_waiters();
    return true;
  }

  /// The value, or null if it is not set yet. Does not wait.
  [[nodiscard]] T* get() noexcept { return cell_.get(); }
  /// The value, or null if it is not set yet. Does not wait.
  [[nodiscard]] const T* get() const noexcept { return cell_.get(); }
  /// Whether the value is there.
  [[nodiscard]] bool is_set() const noexcept { return cell_.is_set(); }

  /// Completes with the value once it is set. Borrows this.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Wait wait() noexcept { return Wait(*this); }

 private:
  OnceCell<T> cell_;
  Notify was_set_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] SetOnce<T>::Wait {
 public:
  using Output = T&;

  explicit Wait(SetOnce& of) noexcept : of_(&of), was_set_(of.was_set_.notified()) {}

  Poll<T&> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    if (!of_->is_set() && was_set_.poll(cx).is_pending()) return pending;
    return Poll<T&>::ready(*of_->get());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Wait, "SetOnce", cell, &Wait::of_)

 private:
  SetOnce* of_;
  Notify::Notified was_set_;
};

}  // namespace rouse::sync
