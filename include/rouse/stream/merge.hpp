// merge(s...): the items of several streams of one item type, as they come. Ends when all have.
//
// A poll asks one after another, the first time the first listed, later the one after that which
// gave the last item: a stream that is always ready does not keep the others from their turn.
// No allocation. For streams that come and go use StreamMap.
// What one of them throws, poll_next throws, and all may go on.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream First, Stream... Others>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] Merge {
  static constexpr std::size_t count = 1 + sizeof...(Others);

 public:
  using Item = item_t<First>;

  explicit Merge(First first, Others... others)
      : sources_(Source<First>(std::move(first)), Source<Others>(std::move(others))...) {}

  PollNext<Item> poll_next(Context& cx) {
    const std::size_t start = turn_;
    bool is_over = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = (start + i) % count;
      turn_ = (index + 1) % count;
      auto polled = poll_at(index, cx, std::make_index_sequence<count>());
      if (has_item(polled)) return polled;
      is_over = is_over && polled.is_ready();
    }
    turn_ = start;
    if (!is_over) return pending;
    return PollNext<Item>::ready(std::nullopt);
  }

  /// Whether one of the streams borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return std::apply([](const auto&... source) { return (source.borrows() || ...); }, sources_);
  }

 private:
  template <std::size_t... Index>
  PollNext<Item> poll_at(std::size_t index, Context& cx, std::index_sequence<Index...>) {
    PollNext<Item> polled = pending;
    static_cast<void>(
        ((index == Index && (polled = std::get<Index>(sources_).poll_next(cx), true)) || ...));
    return polled;
  }

  std::tuple<Source<First>, Source<Others>...> sources_;
  std::size_t turn_ = 0;  // who is asked first
};

template <class First, class... Others>
auto merge(First&& first, Others&&... others) {
  if constexpr (can_keep_stream<First>() && (can_keep_stream<Others>() && ...)) {
    using Item = item_t<std::remove_cvref_t<First>>;
    static_assert((std::same_as<Item, item_t<std::remove_cvref_t<Others>>> && ...),
                  "merge needs streams of one item type: use map to make them alike");
    return Merge<std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>(
        std::forward<First>(first), std::forward<Others>(others)...);
  }
}

}  // namespace rouse::stream
