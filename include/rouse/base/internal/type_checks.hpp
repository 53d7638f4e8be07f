// What a type can do, asked of the compiler itself: each of the standard library's traits would
// make it instantiate two to ten class templates, for every type that is awaited.
#pragma once

namespace rouse::internal {

template <class T, class... Args>
concept Constructible = __is_constructible(T, Args...);
template <class T, class... Args>
concept NothrowConstructible = __is_nothrow_constructible(T, Args...);

template <class From, class To>
concept Convertible = requires(From (*from)(), void (*to)(To)) { to(from()); };

template <class T>
concept TriviallyDestroyed =
#if __has_builtin(__is_trivially_destructible)
    __is_trivially_destructible(T);
#else
    __has_trivial_destructor(T);
#endif
template <class T>
concept TriviallyCopied = __is_trivially_constructible(T, const T&);
template <class T>
concept TriviallyMoved = __is_trivially_constructible(T, T&&);
template <class T>
concept TriviallyCopyAssigned =
    TriviallyCopied<T> && TriviallyDestroyed<T> && __is_trivially_assignable(T&, const T&);
template <class T>
concept TriviallyMoveAssigned =
    TriviallyMoved<T> && TriviallyDestroyed<T> && __is_trivially_assignable(T&, T&&);

}  // namespace rouse::internal
