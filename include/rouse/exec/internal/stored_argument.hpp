// How `spawn(fn, args...)` stores an argument: decayed, as a std thread does, but converted first
// where fn takes a reference to another type. Otherwise `spawn(greet, "you")` with `Async<>
// greet(const std::string&)` would create a std::string that is destroyed when the call returns,
// while the coroutine continues. This needs to know the parameters: of a function, a member
// function, or a function object with one operator(). One with several, or with a template, is
// called with the decayed arguments: pass exactly what its parameters need.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/core/internal/borrow.hpp"

namespace rouse::internal {

template <class... Parameters>
struct ParameterList {};

/// The parameters of a function type, whatever is said after them.
template <class Function>
struct ParametersIn;
template <class R, class... Parameters, bool no_throw>
struct ParametersIn<R(Parameters...) noexcept(no_throw)> {
  using type = ParameterList<Parameters...>;
  /// As a member: the object comes first, and is kept as it is; char stands for "no conversion".
  using with_object = ParameterList<char, Parameters...>;
};
template <class R, class... Parameters, bool no_throw>
struct ParametersIn<R(Parameters...) const noexcept(no_throw)> : ParametersIn<R(Parameters...)> {};
template <class R, class... Parameters, bool no_throw>
struct ParametersIn<R(Parameters...) & noexcept(no_throw)> : ParametersIn<R(Parameters...)> {};
template <class R, class... Parameters, bool no_throw>
struct ParametersIn<R(Parameters...) const & noexcept(no_throw)> : ParametersIn<R(Parameters...)> {
};

template <class Member>
struct MemberFunction;
template <class Function, class Class>
  requires requires { typename ParametersIn<Function>::type; }
struct MemberFunction<Function Class::*> : ParametersIn<Function> {};

/// Tells the parameters of what has one signature; `void` of anything else.
template <class Fn>
struct ParametersOf {
  using type = void;
};
template <class Function>
  requires requires { typename ParametersIn<Function>::type; }
struct ParametersOf<Function*> : ParametersIn<Function> {};
template <class Fn>
  requires requires { typename MemberFunction<Fn>::with_object; }
struct ParametersOf<Fn> {
  using type = typename MemberFunction<Fn>::with_object;
};
template <class Fn>
  requires requires { typename MemberFunction<decltype(&Fn::operator())>::type; }
struct ParametersOf<Fn> : MemberFunction<decltype(&Fn::operator())> {};

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

/// Whether this is all that follows the work in a spawn: then it says where that is written.
template <class Arg, class... Args>
inline constexpr bool is_place_of_spawn =
    sizeof...(Args) == 0 && std::same_as<std::remove_cvref_t<Arg>, std::source_location>;

}  // namespace rouse::internal
