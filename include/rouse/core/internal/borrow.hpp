// Which coroutine parameters borrow: a reference, a raw pointer, a view. Member functions get
// `this`, and lambdas their closure, as a reference, so they are seen too; a class without members
// (a lambda without captures) has nothing to dangle.
// A borrow inside a struct can't be seen.
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

namespace rouse::internal {

template <class T>
concept ReferenceWrapper = requires(const T& t) {
  typename T::type;
  { t.get() } -> std::same_as<typename T::type&>;
  requires std::convertible_to<const T&, typename T::type&>;
};

/// A class that is only declared so far may have members.
template <class T>
concept Memberless = std::is_class_v<T> && requires { sizeof(T); } && std::is_empty_v<T>;

template <class P, class T = std::remove_cvref_t<P>>
concept Borrow =
    (std::is_reference_v<P> && !std::is_function_v<T> && !Memberless<T>) ||
    (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) ||
    std::ranges::enable_borrowed_range<T> || std::ranges::enable_view<T> || ReferenceWrapper<T>;

template <class P>
inline constexpr bool is_borrow = Borrow<P>;

/// Whether a future says that it borrows: a coroutine does, and what is made of coroutines.
template <class F>
[[nodiscard]] constexpr bool future_borrows(const F& future) noexcept {
  if constexpr (requires { future.borrows(); }) {
    return future.borrows();
  } else {
    return false;
  }
}

}  // namespace rouse::internal
