// take(s, n): the first `n` items of `s`. `s` is dropped with the n-th, and not polled at all if
// `n` is 0. poll_next throws what `s` throws; that does not count as an item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Take {
 public:
  using Item = item_t<S>;

  Take(S stream, std::size_t count) : source_(std::move(stream)), left_(count) {
    if (left_ == 0) source_.end();
  }

  PollNext<Item> poll_next(Context& cx) {
    auto polled = source_.poll_next(cx);
    if (internal::has_item(polled) && --left_ == 0) source_.end();
    return polled;
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Take, nullptr, one, &Take::source_)

 private:
  internal::Source<S> source_;
  std::size_t left_;
};

template <class S>
auto take(S&& stream, std::size_t count) {
  if constexpr (internal::can_keep_stream<S>()) {
    return Take<std::remove_cvref_t<S>>(std::forward<S>(stream), count);
  }
}

}  // namespace rouse::stream
