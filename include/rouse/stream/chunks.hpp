// chunks(s, n): the items of `s` in vectors of `n`; the last one may be shorter. It waits for a
// full chunk: chunks_timeout limits that wait. poll_next throws what `s` throws; the unfinished
// chunk is kept for the next poll.
// Cancel safety: dropping it loses the unfinished chunk; dropping next() loses nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Chunks {
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
      if (!internal::has_item(polled)) break;
      chunk_.push_back(internal::take_item(polled));
    }
    if (chunk_.empty()) return PollNext<Item>::ready(std::nullopt);
    return PollNext<Item>::ready(std::exchange(chunk_, Item()));
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Chunks, nullptr, one, &Chunks::source_)

 private:
  internal::Source<S> source_;
  std::size_t size_;
  Item chunk_;
};

template <class S>
auto chunks(S&& stream, std::size_t size) {
  if constexpr (internal::can_keep_stream<S>()) {
    return Chunks<std::remove_cvref_t<S>>(std::forward<S>(stream), size);
  }
}

}  // namespace rouse::stream
