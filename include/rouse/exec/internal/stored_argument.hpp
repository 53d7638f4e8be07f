// As what `spawn(fn, args...)` keeps an argument: decayed, as a std thread does, but converted
// first where fn takes a reference to another type. `spawn(greet, "you")` with `Async<> greet(const
// std::string&)` would otherwise make a std::string that is gone when the call returns, while the
// coroutine goes on. This needs to know the parameters: of a function, a member function, or a
// function object with one operator(). One with several, or a template, is called with the decayed
// arguments: pass it what its parameters are.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/core/borrow.hpp"

namespace rouse {

/// Tells the parameters of what has one signature; `void` of anything else.
template <class Fn>
struct ParametersOf {
  using type = void;
};
template <class... Parameters>
struct ParameterList {};

/// std::function knows the signature of functions and of function objects.
template <class Signature>
struct ParametersOfFunction;
template <class R, class... Parameters>
struct ParametersOfFunction<std::function<R(Parameters...)>> {
  using type = ParameterList<Parameters...>;
};
template <class Fn>
  requires requires { std::function(std::declval<Fn>()); }
struct ParametersOf<Fn> : ParametersOfFunction<decltype(std::function(std::declval<Fn>()))> {};

/// The object comes first, and is kept as it is: char stands for "no conversion".
template <class Function>
struct ParametersOfMember;
template <class R, class... Parameters>
struct ParametersOfMember<R(Parameters...)> {
  using type = ParameterList<char, Parameters...>;
};
template <class R, class... Parameters>
struct ParametersOfMember<R(Parameters...) const> : ParametersOfMember<R(Parameters...)> {};
template <class R, class... Parameters>
struct ParametersOfMember<R(Parameters...)&> : ParametersOfMember<R(Parameters...)> {};
template <class R, class... Parameters>
struct ParametersOfMember<R(Parameters...) const&> : ParametersOfMember<R(Parameters...)> {};
template <class Function, class Class>
  requires std::is_function_v<Function> && requires { typename ParametersOfMember<Function>::type; }
struct ParametersOf<Function Class::*> : ParametersOfMember<Function> {};

template <class List, std::size_t I>
struct NthParameter {};
template <class... Parameters, std::size_t I>
  requires(I < sizeof...(Parameters))
struct NthParameter<ParameterList<Parameters...>, I> {
  using type = std::tuple_element_t<I, std::tuple<Parameters...>>;
};

/// What a parameter of type P keeps of an argument of type Arg.
template <class P, class Arg>
struct KeptFor {
  using Value = std::remove_cvref_t<P>;
  using Decayed = std::decay_t<Arg>;
  static constexpr bool converts = std::is_reference_v<P> && !std::is_base_of_v<Value, Decayed> &&
                                   !std::is_same_v<Value, Decayed> && !ReferenceWrapper<Decayed> &&
                                   std::is_convertible_v<Arg, Value>;
  static_assert(!converts || !is_borrow<Value>,
                "spawn(fn, args...): fn takes a reference to a view (such as const "
                "std::string_view&), which would be gone before the coroutine runs: take the view "
                "by value");
  using type = std::conditional_t<converts, Value, Decayed>;
};

template <class Fn, std::size_t I, class Arg>
struct StoredArgument {
  using type = std::decay_t<Arg>;
};
template <class Fn, std::size_t I, class Arg>
  requires requires { typename NthParameter<typename ParametersOf<Fn>::type, I>::type; }
struct StoredArgument<Fn, I, Arg> {
  using type =
      typename KeptFor<typename NthParameter<typename ParametersOf<Fn>::type, I>::type, Arg>::type;
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
