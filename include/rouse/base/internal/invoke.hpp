// invoke(fn, args...): std::invoke without <functional>, which includes hash tables and algorithms.
#pragma once

#include <type_traits>
#include <utility>

namespace rouse::internal {

/// The object that a pointer to a member of `Class` is used with: given itself, or by a
/// std::reference_wrapper, or by a pointer.
template <class Class, class Object>
constexpr decltype(auto) member_owner(Object&& object) noexcept {
  if constexpr (std::is_base_of_v<Class, std::remove_cvref_t<Object>>) {
    return std::forward<Object>(object);
  } else if constexpr (std::is_convertible_v<Object, Class&>) {
    return static_cast<Class&>(object);
  } else if constexpr (std::is_convertible_v<Object, const Class&>) {
    return static_cast<const Class&>(object);
  } else {
    return *std::forward<Object>(object);
  }
}

template <class Member, class Class, class Object, class... Args>
constexpr decltype(auto) invoke_member(Member Class::* member, Object&& object, Args&&... args) {
  if constexpr (std::is_function_v<Member>) {
    return (member_owner<Class>(std::forward<Object>(object)).*member)(std::forward<Args>(args)...);
  } else {
    return member_owner<Class>(std::forward<Object>(object)).*member;
  }
}

template <class Fn, class... Args>
  requires std::is_invocable_v<Fn, Args...>
constexpr std::invoke_result_t<Fn, Args...> invoke(Fn&& fn, Args&&... args) noexcept(
    std::is_nothrow_invocable_v<Fn, Args...>) {
  if constexpr (std::is_member_pointer_v<std::remove_cvref_t<Fn>>) {
    return invoke_member(fn, std::forward<Args>(args)...);
  } else {
    return std::forward<Fn>(fn)(std::forward<Args>(args)...);
  }
}

}  // namespace rouse::internal
