// chunks_timeout(s, n, duration): the items of `s` in vectors of `n`, or fewer if `duration` passes
// after the first item of a chunk. Never an empty chunk. Needs a runtime: see sleep. poll_next
// throws what `s` throws; the unfinished chunk is kept for the next poll.
// Cancel safety: dropping it loses the unfinished chunk; dropping next() loses nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/internal/durations.hpp"
#include "rouse/stream/internal/source.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] ChunksTimeout {
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
      if (!internal::has_item(polled)) break;
      if (chunk_.empty()) timer_.reset(time::add(time::now(), patience_));
      chunk_.push_back(internal::take_item(polled));
    }
    if (chunk_.empty()) return PollNext<Item>::ready(std::nullopt);
    return PollNext<Item>::ready(std::exchange(chunk_, Item()));
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ChunksTimeout, "chunks_timeout", any_of, &ChunksTimeout::source_,
              &ChunksTimeout::timer_)

 private:
  internal::Source<S> source_;
  std::size_t size_;
  time::Nanoseconds patience_;
  Sleep timer_{time::Instant::max()};  // counts while the chunk is not empty
  Item chunk_;
};

template <class S, class Rep, class Period>
auto chunks_timeout(S&& stream, std::size_t size, std::chrono::duration<Rep, Period> patience) {
  if constexpr (internal::can_keep_stream<S>()) {
    return ChunksTimeout<std::remove_cvref_t<S>>(std::forward<S>(stream), size,
                                                 internal::saturate(patience));
  }
}

}  // namespace rouse::stream
