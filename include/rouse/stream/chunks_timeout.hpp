// chunks_timeout(s, n, duration): the items of `s` in vectors of `n`; what has come `duration`
// after the first item of a chunk is given then, if it is less. Never an empty chunk. In a runtime:
// see sleep. What `s` throws, poll_next throws; the chunk that is being filled is kept for the next
// poll.
// Cancel safety: dropping it loses the chunk that is being filled; dropping next() loses
// nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/stream/source.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] ChunksTimeout {
 public:
  using Item = std::vector<item_t<S>>;

  ChunksTimeout(S stream, std::size_t size, time::Nanoseconds patience)
      : source_(std::move(stream)), size_(size), patience_(patience) {
    ROUSE_ASSERT(size > 0,
                 "chunks_timeout(s, 0, d) would never give anything: say how many items a "
                 "chunk has");
  }

  PollNext<Item> poll_next(Context& cx) {
    // The timer first: a source that always has an item takes all of the budget.
    const bool is_late = !chunk_.empty() && timer_.poll(cx).is_ready();
    while (!is_late && chunk_.size() < size_) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) {
        if (chunk_.empty() || timer_.poll(cx).is_pending()) return pending;
        break;
      }
      if (!has_item(polled)) break;
      if (chunk_.empty()) timer_.reset(time::add(time::now(), patience_));
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
  time::Nanoseconds patience_;
  Sleep timer_{time::Instant::max()};  // counts while the chunk is not empty
  Item chunk_;
};

template <class S, class Rep, class Period>
auto chunks_timeout(S&& stream, std::size_t size, std::chrono::duration<Rep, Period> patience) {
  if constexpr (can_keep_stream<S>()) {
    return ChunksTimeout<std::remove_cvref_t<S>>(std::forward<S>(stream), size,
                                                 time::saturate(patience));
  }
}

}  // namespace rouse::stream
