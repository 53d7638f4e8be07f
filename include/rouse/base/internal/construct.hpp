// construct, destroy, give_back: objects in existing memory: std::construct_at and std::destroy_at
// without <memory>. hand_on: the result of a future on its way to who awaits it.
#pragma once
// As std::construct_at is: `co_return 1` of an Async<std::size_t> must not warn in here.
#pragma GCC system_header

#include <new>
#include <utility>

namespace rouse::internal {

template <class T, class... Args>
T* construct(T* at, Args&&... args) noexcept(noexcept(T(std::forward<Args>(args)...))) {
  return ::new (const_cast<void*>(static_cast<const volatile void*>(at)))
      T(std::forward<Args>(args)...);
}

/// For who moves the result of a future to who awaits it, in the same task. What wants to know when
/// it is moved for another reason has a `handed_on() &&`, which gives what it was.
template <class T>
constexpr decltype(auto) hand_on(T&& value) noexcept {
  if constexpr (requires { std::forward<T>(value).handed_on(); }) {
    return std::forward<T>(value).handed_on();
  } else {
    return std::forward<T>(value);
  }
}

/// Of what is handed on: as a parameter of `construct` it would be moved.
template <class T, class... Args>
T* construct_handed_on(T* at,
                       Args&&... args) noexcept(noexcept(T(hand_on(std::forward<Args>(args))...))) {
  return ::new (const_cast<void*>(static_cast<const volatile void*>(at)))
      T(hand_on(std::forward<Args>(args))...);
}

template <class T>
void destroy(T* object) noexcept {
  object->~T();
}

/// Moves a value back that was made of `from` and is not needed, if that was an rvalue of its type.
template <class T, class From>
void give_back([[maybe_unused]] T& value, [[maybe_unused]] From&& from) noexcept {
  if constexpr (__is_same(From, T) && __is_nothrow_assignable(T&, T&&)) from = std::move(value);
}

/// Also of what overloads `&`.
template <class T>
constexpr T* address_of(T& object) noexcept {
  return __builtin_addressof(object);
}

}  // namespace rouse::internal
