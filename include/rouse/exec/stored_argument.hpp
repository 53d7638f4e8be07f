// As what `spawn(fn, args...)` keeps an argument: decayed, as std::thread does, but converted first
// where fn takes a reference to another type. `spawn(greet, "you")` with
// `Async<> greet(const std::string&)` would otherwise make a std::string that is gone when the call
// returns, while the coroutine goes on. This needs fn to have one signature; a function object with
// several is called with the decayed arguments.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/core/borrow.hpp"

namespace rouse {

/// std::function can tell the signature of what has just one.
template <class Fn>
concept HasOneSignature = requires { std::function(std::declval<Fn>()); };

template <class Function, std::size_t I>
struct NthParameter {};
template <class R, class... Parameters, std::size_t I>
  requires(I < sizeof...(Parameters))
struct NthParameter<std::function<R(Parameters...)>, I> {
  using type = std::tuple_element_t<I, std::tuple<Parameters...>>;
};

/// What a parameter of type P keeps of an argument of type Arg.
template <class P, class Arg>
struct KeptFor {
  using Value = std::remove_cvref_t<P>;
  using Decayed = std::decay_t<Arg>;
  static constexpr bool converts = std::is_reference_v<P> && !std::is_base_of_v<Value, Decayed> &&
                                   !std::is_same_v<Value, Decayed> && !ReferenceWrapper<Decayed> &&
                                   std::is_constructible_v<Value, Arg>;
  using type = std::conditional_t<converts, Value, Decayed>;
};

template <class Fn, std::size_t I, class Arg>
struct StoredArgument {
  using type = std::decay_t<Arg>;
};
template <class Fn, std::size_t I, class Arg>
  requires HasOneSignature<Fn> &&
           requires { typename NthParameter<decltype(std::function(std::declval<Fn>())), I>::type; }
struct StoredArgument<Fn, I, Arg> {
  using type =
      typename KeptFor<typename NthParameter<decltype(std::function(std::declval<Fn>())), I>::type,
                       Arg>::type;
};

/// `into<Template>` is `Template<decayed Fn, stored arguments...>`.
template <class Indices, class Fn, class... Args>
struct StoredCall;
template <std::size_t... I, class Fn, class... Args>
struct StoredCall<std::index_sequence<I...>, Fn, Args...> {
  template <template <class...> class Template>
  using into = Template<Fn, typename StoredArgument<Fn, I, Args>::type...>;
};

}  // namespace rouse
