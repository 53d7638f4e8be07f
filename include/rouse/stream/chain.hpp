// chain(a, b): the items of `a`, then those of `b`. `a` is dropped at its end; `b` is not polled
// before. poll_next throws what they throw.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream First, Stream Second>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Chain {
 public:
  using Item = item_t<First>;

  Chain(First first, Second second) : first_(std::move(first)), second_(std::move(second)) {}

  PollNext<Item> poll_next(Context& cx) {
    auto polled = first_.poll_next(cx);
    if (polled.is_pending() || internal::has_item(polled)) return polled;
    return second_.poll_next(cx);
  }

  /// Whether one of the streams borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return first_.borrows() || second_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Chain, "chain", all_of, &Chain::first_, &Chain::second_)

 private:
  internal::Source<First> first_;
  internal::Source<Second> second_;
};

template <class First, class Second>
auto chain(First&& first, Second&& second) {
  if constexpr (internal::can_keep_stream<First>() && internal::can_keep_stream<Second>()) {
    using A = std::remove_cvref_t<First>;
    using B = std::remove_cvref_t<Second>;
    static_assert(std::same_as<item_t<A>, item_t<B>>,
                  "chain needs two streams of one item type: use map to make them alike");
    return Chain<A, B>(std::forward<First>(first), std::forward<Second>(second));
  }
}

}  // namespace rouse::stream
