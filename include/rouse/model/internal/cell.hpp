// TrackedCell<T>: what rouse::Cell<T> is in a model-checked build. Each access is held against
// those of other threads: two that nothing orders, one of them a write, are a data race.
// TrackedSlot<T> is the same for rouse::Slot<T>.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/model/internal/atomic.hpp"
#include "rouse/model/internal/hooks.hpp"

namespace rouse::model {

template <class T>
class TrackedCell {
 public:
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  constexpr explicit TrackedCell(Args&&... args) noexcept(
      std::is_nothrow_constructible_v<T, Args...>)
      : value_(std::forward<Args>(args)...) {
    if (!std::is_constant_evaluated()) object_made(stamp_);
  }
  TrackedCell(const TrackedCell&) = delete;
  TrackedCell& operator=(const TrackedCell&) = delete;
  constexpr ~TrackedCell() {
    if (!std::is_constant_evaluated()) cell_destroyed(this, stamp_);
  }

  [[nodiscard]] const T& read(Where where = Where::current()) const noexcept {
    if (inside()) cell_read(this, stamp_, where);
    return value_;
  }
  [[nodiscard]] T& write(Where where = Where::current()) noexcept {
    if (inside()) cell_written(this, stamp_, where);
    return value_;
  }

 private:
  mutable Stamp stamp_;
  T value_;
};

template <class T>
class TrackedSlot {
 public:
  TrackedSlot() noexcept { object_made(stamp_); }
  TrackedSlot(const TrackedSlot&) = delete;
  TrackedSlot& operator=(const TrackedSlot&) = delete;
  ~TrackedSlot() { cell_destroyed(this, stamp_); }

  void write(T value, Where where = Where::current()) noexcept {
    if (inside()) cell_written(this, stamp_, where);
    value_.store(value, std::memory_order_relaxed, where);
  }
  [[nodiscard]] T read(Where where = Where::current()) const noexcept {
    if (inside()) cell_read(this, stamp_, where);
    return value_.load(std::memory_order_relaxed, where);
  }
  [[nodiscard]] T guess(Where where = Where::current()) const noexcept {
    if (inside()) cell_guessed(this, stamp_, where);
    return value_.load(std::memory_order_relaxed, where);
  }
  void confirm(Where where = Where::current()) const noexcept {
    if (inside()) cell_confirmed(this, stamp_, where);
  }

 private:
  mutable Stamp stamp_;
  Atomic<T> value_{T()};
};

}  // namespace rouse::model
