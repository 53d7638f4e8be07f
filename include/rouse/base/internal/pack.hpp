// Pack<Ts...>: several values in one: the arguments that a task keeps, the futures of a select. A
// std::tuple could do that too, but it costs a compiler more than all else of these.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/base/shape.hpp"

namespace rouse::internal {

template <std::size_t I, class T>
struct PackItem {
  [[no_unique_address]] T value;
};

template <class Indices, class... Ts>
class IndexedPack;
template <std::size_t... I, class... Ts>
class IndexedPack<std::index_sequence<I...>, Ts...> : PackItem<I, Ts>... {
 public:
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(IndexedPack, nullptr, one, static_cast<Ts IndexedPack::*>(&PackItem<I, Ts>::value)...)

  template <class... Given>
  explicit IndexedPack(std::in_place_t, Given&&... given)
      : PackItem<I, Ts>{static_cast<Ts>(std::forward<Given>(given))}... {}

  /// `take(values...)`, each as an rvalue.
  template <class Take>
  decltype(auto) give_to(Take&& take) {
    return take(static_cast<Ts&&>(static_cast<PackItem<I, Ts>*>(this)->value)...);
  }
  template <std::size_t index>
  auto& get() noexcept {
    return value_of<index>(*this);
  }
  /// Whether `fn(value)` is true for one of them.
  template <class Fn>
  bool any_of(Fn&& fn) const {
    return (fn(static_cast<const PackItem<I, Ts>*>(this)->value) || ...);
  }

 private:
  template <std::size_t index, class T>
  static T& value_of(PackItem<index, T>& item) noexcept {
    return item.value;
  }
};

template <class... Ts>
using Pack = IndexedPack<std::index_sequence_for<Ts...>, Ts...>;

}  // namespace rouse::internal
