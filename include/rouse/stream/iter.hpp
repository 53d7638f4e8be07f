// iter(range): the elements of a range, as a stream.
//
// A container passed as an rvalue is owned, and its elements are moved out. An lvalue is borrowed
// and its elements are copied: it must outlive the stream. A view is kept as it is. Always ready,
// with a step of the budget for each element.
// Cancel safety: dropping it drops the remaining elements of an owned range; those of a borrowed
// one stay.
#pragma once

#include <optional>
#include <span>  // std::ranges::enable_view, without the cost of <ranges>
#include <type_traits>
#include <utility>

#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::stream {

/// `Range` is a type, or an lvalue reference if it is borrowed.
template <class Range>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Iter {
  using Iterator = decltype(std::begin(std::declval<Range&>()));
  using Element = std::iter_reference_t<Iterator>;
  static constexpr bool owns = !std::is_reference_v<Range> && !std::ranges::enable_view<Range>;
  using Given = std::conditional_t<owns, std::remove_reference_t<Element>&&, Element>;

 public:
  using Item = std::iter_value_t<Iterator>;
  static constexpr bool can_give = std::is_constructible_v<Item, Given>;

  explicit Iter(Range&& range) : range_(std::forward<Range>(range)) {}
  Iter(Iter&& other)
      : range_(std::forward<Range>(other.range_)), move_check_(std::move(other.move_check_)) {}

  PollNext<Item> poll_next(Context& cx) {
    move_check_.set_polled();
    if (!position_) position_.emplace(std::begin(range_));
    if (*position_ == std::end(range_)) return PollNext<Item>::ready(std::nullopt);
    if (!cx.take_budget()) return pending;
    const Step step(*position_);
    return PollNext<Item>::ready(static_cast<Given>(**position_));
  }

  /// Whether the range is borrowed, or a view.
  [[nodiscard]] bool borrows() const noexcept { return internal::is_borrow<Range>; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Iter, "iter", turn)

 private:
  /// Advances even if copying the element throws.
  class Step {
   public:
    explicit Step(Iterator& position) noexcept : position_(position) {}
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { ++position_; }

   private:
    Iterator& position_;
  };

  Range range_;
  std::optional<Iterator> position_;  // from the first poll on: the range may move before
  internal::MovableUntilPolled move_check_;
};

template <class Range>
auto iter(Range&& range) {
  static_assert(Iter<Range>::can_give,
                "iter copies the elements of a range it does not own, and these can't be copied: "
                "write iter(std::move(range))");
  if constexpr (Iter<Range>::can_give) return Iter<Range>(std::forward<Range>(range));
}

}  // namespace rouse::stream
