// construct, destroy, give_back: objects in existing memory: std::construct_at and std::destroy_at
// without <memory>.
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
