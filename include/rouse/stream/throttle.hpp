// throttle(s, duration): the items of `s`, no two of them within `duration`. `s` is asked for the
// next one when the time since the last is over; nothing is left out. In a runtime: see sleep.
// What `s` throws, poll_next throws; that is no item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include "rouse/stream/source.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] Throttle {
 public:
  using Item = item_t<S>;

  Throttle(S stream, time::Nanoseconds gap) : source_(std::move(stream)), gap_(gap) {}

  PollNext<Item> poll_next(Context& cx) {
    if (waits_ && sleep_.poll(cx).is_pending()) return pending;
    waits_ = false;
    auto polled = source_.poll_next(cx);
    if (has_item(polled)) {
      sleep_.reset(time::add(time::now(), gap_));
      waits_ = true;
    }
    return polled;
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  time::Nanoseconds gap_;
  Sleep sleep_{time::Instant::max()};
  bool waits_ = false;
};

template <class S, class Rep, class Period>
auto throttle(S&& stream, std::chrono::duration<Rep, Period> gap) {
  if constexpr (can_keep_stream<S>()) {
    return Throttle<std::remove_cvref_t<S>>(std::forward<S>(stream), time::saturate(gap));
  }
}

}  // namespace rouse::stream
