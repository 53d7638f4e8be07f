// A range of futures, from which they are taken: a container passed as an rvalue is moved from;
// otherwise the elements are copied, or moved if they are prvalues.
#pragma once

#include <span>  // std::ranges::enable_view, without the cost of <ranges>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse::internal {

template <class Range>
using element_t = decltype(*std::begin(std::declval<Range&>()));

/// As which an element is given away.
template <class Range>
using given_t = std::conditional_t<!std::is_lvalue_reference_v<Range> &&
                                       !std::ranges::enable_view<std::remove_cvref_t<Range>>,
                                   std::remove_reference_t<element_t<Range>>&&, element_t<Range>&&>;

/// True if the futures of `Range&&` can be kept; otherwise the program does not compile.
template <class Range>
constexpr bool can_keep_range() noexcept {
  constexpr bool are_futures = Future<std::remove_cvref_t<element_t<Range>>>;
  constexpr bool can_keep = Keepable<given_t<Range>>;
  static_assert(are_futures, "this needs a range of futures");
  static_assert(!are_futures || can_keep,
                "futures are kept by value and these can't be copied: write std::move(futures)");
  return are_futures && can_keep;
}

}  // namespace rouse::internal
