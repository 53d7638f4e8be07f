// Cell<T>: a plain variable that threads share and that atomics or locks next to it guard. Part of
// the seam (base/atomic.hpp): the model checker sees each access and finds unordered ones.
// Otherwise it costs nothing.
//
// Slot<T>: a cell that a thread may read before it knows whether the value is its own, as a thief
// reads the slots of a queue. It discards what it read, or confirms it: then it has been the owner
// since.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/atomic.hpp"

#if defined(ROUSE_MODEL)
#include "rouse/model/internal/cell.hpp"
#endif

namespace rouse {
#if defined(ROUSE_MODEL)
inline namespace model_checked {

template <class T>
using Cell = model::TrackedCell<T>;
template <class T>
using Slot = model::TrackedSlot<T>;

}  // namespace model_checked
#else
inline namespace native {

template <class T>
class Cell {
 public:
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  constexpr explicit Cell(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>)
      : value_(std::forward<Args>(args)...) {}
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  /// The reference is valid for reading until the next release or unlock of what guards the cell.
  [[nodiscard]] constexpr const T& read() const noexcept { return value_; }
  /// As `read`, for reading and writing.
  [[nodiscard]] constexpr T& write() noexcept { return value_; }

 private:
  T value_;
};

/// A word that one thread writes and others read, whenever they like.
template <class T>
class Slot {
 public:
  Slot() noexcept = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  /// The owner's.
  void write(T value) noexcept { value_.store(value, memory_order_relaxed); }
  /// Any thread's.
  [[nodiscard]] T read() const noexcept { return value_.load(memory_order_relaxed); }

  /// Anybody's: what the slot holds, or held, or will hold.
  [[nodiscard]] T guess() const noexcept { return value_.load(memory_order_relaxed); }
  /// Nobody else may have written since this thread's last guess: it counts as a read at that time.
  void confirm() const noexcept {}

 private:
  // An atomic, because a guess may be made while the owner writes.
  atomic<T> value_{T()};
};

}  // namespace native
#endif
}  // namespace rouse
