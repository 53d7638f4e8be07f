// skip(s, n): the items of `s` after the first `n`. What `s` throws, poll_next throws; that is no
// item. Cancel safety: it holds no item between two polls.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await next(s))`")]] Skip {
 public:
  using Item = item_t<S>;

  Skip(S stream, std::size_t count) : source_(std::move(stream)), left_(count) {}

  PollNext<Item> poll_next(Context& cx) {
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (!has_item(polled) || left_ == 0) return polled;
      --left_;
    }
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  std::size_t left_;
};

template <class S>
auto skip(S&& stream, std::size_t count) {
  if constexpr (can_keep_stream<S>()) {
    return Skip<std::remove_cvref_t<S>>(std::forward<S>(stream), count);
  }
}

}  // namespace rouse::stream
