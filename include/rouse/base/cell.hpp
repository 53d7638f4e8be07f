// Cell<T>: a plain variable that threads share and that atomics or locks beside it guard. Part of
// the seam (base/atomic.hpp): the model checker sees each access and finds the one that nothing
// orders. Otherwise it costs nothing.
#pragma once

#include <type_traits>
#include <utility>

#if defined(ROUSE_MODEL)
#include "rouse/model/cell.hpp"
#endif

namespace rouse {
#if defined(ROUSE_MODEL)
inline namespace model_checked {

template <class T>
using Cell = model::TrackedCell<T>;

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

  /// The reference is good for reading until the next release or unlock of what guards the cell.
  [[nodiscard]] constexpr const T& read() const noexcept { return value_; }
  /// As `read`, for reading and writing.
  [[nodiscard]] constexpr T& write() noexcept { return value_; }

 private:
  T value_;
};

}  // namespace native
#endif
}  // namespace rouse
