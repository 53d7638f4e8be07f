// Unit: what stands for void in the tuple of a join or the variant of a select.
#pragma once

#include <type_traits>

namespace rouse {

/// Stands for void where a type is needed: void children of join and select.
struct Unit {
  constexpr Unit() noexcept = default;
  friend constexpr bool operator==(Unit, Unit) noexcept = default;
};

/// `Unit` for void, a pointer for a reference, else T itself.
template <class T>
using stored_t =
    std::conditional_t<std::is_void_v<T>, Unit,
                       std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;

}  // namespace rouse
