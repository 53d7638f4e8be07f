// chunks(s, n): the items of `s` in vectors of `n`; the last one may be shorter. It waits for a
// chunk to be full: chunks_timeout does not wait longer than it is told to.
// What `s` throws, poll_next throws; the chunk that is being filled is kept for the next poll.
// Cancel safety: dropping it loses the chunk that is being filled; dropping next() loses nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] Chunks {
 public:
  using Item = std::vector<item_t<S>>;

  Chunks(S stream, std::size_t size) : source_(std::move(stream)), size_(size) {
    ROUSE_ASSERT(size > 0,
                 "chunks(s, 0) would never give anything: say how many items a chunk has");
  }

  PollNext<Item> poll_next(Context& cx) {
    while (chunk_.size() < size_) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (!has_item(polled)) break;
      chunk_.push_back(take_item(polled));
    }
    if (chunk_.empty()) return PollNext<Item>::ready(std::nullopt);
    return PollNext<Item>::ready(std::exchange(chunk_, Item()));
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  std::size_t size_;
  Item chunk_;
};

template <class S>
auto chunks(S&& stream, std::size_t size) {
  if constexpr (can_keep_stream<S>()) {
    return Chunks<std::remove_cvref_t<S>>(std::forward<S>(stream), size);
  }
}

}  // namespace rouse::stream
