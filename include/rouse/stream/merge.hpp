// merge(s...): the items of several streams of one item type, as they arrive. Ends when all have
// ended.
//
// A poll starts with the stream after the one that gave the last item (at first with the first
// argument) and tries one after another. So it is fair: a stream that is always ready does not
// starve the others. No allocation. For streams that come and go use StreamMap. poll_next throws
// what one of them throws, and all continue.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/pack.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream First, Stream... Others>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Merge {
  static constexpr std::size_t count = 1 + sizeof...(Others);

 public:
  using Item = item_t<First>;

  explicit Merge(First first, Others... others)
      : sources_(std::in_place, std::move(first), std::move(others)...) {}

  PollNext<Item> poll_next(Context& cx) {
    const std::size_t start = turn_;
    bool is_over = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = (start + i) % count;
      turn_ = (index + 1) % count;
      auto polled = poll_at(index, cx, std::make_index_sequence<count>());
      if (internal::has_item(polled)) return polled;
      is_over = is_over && polled.is_ready();
    }
    turn_ = start;
    if (!is_over) return pending;
    return PollNext<Item>::ready(std::nullopt);
  }

  /// Whether one of the streams borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return sources_.any_of([](const auto& source) { return source.borrows(); });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Merge, "merge", any_of, &Merge::sources_)

 private:
  template <std::size_t... Index>
  PollNext<Item> poll_at(std::size_t index, Context& cx, std::index_sequence<Index...>) {
    PollNext<Item> polled = pending;
    static_cast<void>(
        ((index == Index && (polled = sources_.template get<Index>().poll_next(cx), true)) || ...));
    return polled;
  }

  internal::Pack<internal::Source<First>, internal::Source<Others>...> sources_;
  std::size_t turn_ = 0;  // the stream to poll first
};

template <class First, class... Others>
auto merge(First&& first, Others&&... others) {
  if constexpr (internal::can_keep_stream<First>() &&
                (internal::can_keep_stream<Others>() && ...)) {
    using Item = item_t<std::remove_cvref_t<First>>;
    static_assert((std::same_as<Item, item_t<std::remove_cvref_t<Others>>> && ...),
                  "merge needs streams of one item type: use map to make them alike");
    return Merge<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>(
        std::forward<First>(first), std::forward<Others>(others)...);
  }
}

}  // namespace rouse::stream
