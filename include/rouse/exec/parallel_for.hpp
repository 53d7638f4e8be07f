// parallel_for(first, last, fn) and parallel_for(range, fn): calls `fn` for every element, on
// several threads where available. Elements are those of random-access iterators, or the integers
// from `first` to before `last`. If `fn` returns a future, it is awaited.
//
//   co_await parallel_for(rows, [](Row& row) { row.sort(); });
//   auto fetch_one = [&](int i) -> Async<void> { co_await fetch(urls[i]); };
//   co_await parallel_for(0, n, fetch_one);
//
// A capturing function has a name because GCC 12 destroys a lambda twice that is written inside a
// co_await.
//
// The range is halved until a part has at most `grain` elements, which one thread handles one after
// another; by default there are about 128 parts. Calls of `fn` run in parallel on several threads:
// guard what it shares. Completes when all calls have ended.
// Cancel safety: as `parallel`.
// Errors: each part stops at its first exception, and one of them is thrown when all parts have
// ended.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/invoke.hpp"
#include "rouse/exec/parallel.hpp"

namespace rouse {

/// Where a range can be divided: an integer or a random access iterator.
template <class It>
concept PartitionPoint = std::integral<It> || std::random_access_iterator<It>;

namespace internal {

/// Integers are counted modulo 2^64: no type of them overflows, and none warns in user code.
template <PartitionPoint It>
constexpr std::size_t distance_to(It first, It last) noexcept {
  if constexpr (std::integral<It>) {
    return static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
  } else {
    return static_cast<std::size_t>(last - first);
  }
}
/// So many steps further.
template <PartitionPoint It>
constexpr It advanced(It first, std::size_t by) noexcept {
  if constexpr (std::integral<It>) {
    return static_cast<It>(static_cast<std::size_t>(first) + by);
  } else {
    return first + static_cast<std::iter_difference_t<It>>(by);
  }
}

/// Calls `fn(element)` for `count` elements from `first`.
template <class It, class Fn>
Async<void> parallel_part(It first, std::size_t count, std::size_t grain, Fn& fn) {
  if (count > grain) {
    const std::size_t half = count / 2;
    const It middle = advanced(first, half);
    // The last part begins first: so one thread alone handles the elements in order.
    co_await parallel(parallel_part(middle, count - half, grain, fn),
                      parallel_part(first, half, grain, fn));
    co_return;
  }
  for (; count > 0; --count, ++first) {
    if constexpr (std::integral<It>) {
      if constexpr (Future<std::invoke_result_t<Fn&, It>>) {
        auto called = internal::invoke(fn, It(first));
        co_await called;
      } else {
        internal::invoke(fn, It(first));
      }
    } else if constexpr (Future<std::invoke_result_t<Fn&, decltype(*first)>>) {
      auto called = internal::invoke(fn, *first);
      co_await called;
    } else {
      internal::invoke(fn, *first);
    }
  }
}

/// With `grain` 0: chosen by the number of elements.
constexpr std::size_t grain_of(std::size_t count, std::size_t grain) noexcept {
  constexpr std::size_t parts = 128;
  if (grain > 0) return grain;
  return count <= parts ? 1 : count / parts;
}

}  // namespace internal

template <PartitionPoint It, class Fn>
Async<void> parallel_for(It first, It last, Fn fn, std::size_t grain = 0) {
  if (!(first < last)) co_return;
  const std::size_t count = internal::distance_to(first, last);
  co_await internal::parallel_part(first, count, internal::grain_of(count, grain), fn);
}

namespace internal {

/// Owns the range.
template <class Range, class Fn>
Async<void> parallel_for_owned(Range range, Fn fn, std::size_t grain) {
  const auto count = static_cast<std::size_t>(std::end(range) - std::begin(range));
  co_await parallel_part(std::begin(range), count, grain_of(count, grain), fn);
}
/// As parallel_for, of a range that the caller keeps.
template <class Range, class Fn>
Async<void> parallel_for_borrowed(Range& range, Fn fn, std::size_t grain) {
  const auto count = static_cast<std::size_t>(std::end(range) - std::begin(range));
  co_await parallel_part(std::begin(range), count, grain_of(count, grain), fn);
}

}  // namespace internal

/// A container passed as an rvalue is owned; any other is borrowed.
template <class Range, class Fn>
  requires requires(Range& range) { std::end(range) - std::begin(range); }
Async<void> parallel_for(Range&& range, Fn fn, std::size_t grain = 0) {
  if constexpr (std::is_lvalue_reference_v<Range>) {
    return internal::parallel_for_borrowed(range, std::move(fn), grain);
  } else {
    return internal::parallel_for_owned<Range, Fn>(std::forward<Range>(range), std::move(fn),
                                                   grain);
  }
}

}  // namespace rouse
