// throttle(s, duration): the items of `s`, at most one per `duration`. `s` is polled for the next
// one when that time has passed; no item is dropped. Needs a runtime: see sleep. poll_next throws
// what `s` throws; that does not count as an item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/stream/internal/source.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Throttle {
 public:
  using Item = item_t<S>;

  Throttle(S stream, time::Nanoseconds gap) : source_(std::move(stream)), gap_(gap) {}

  PollNext<Item> poll_next(Context& cx) {
    if (sleep_ && (*sleep_).poll(cx).is_pending()) return pending;
    sleep_.reset();
    auto polled = source_.poll_next(cx);
    if (internal::has_item(polled)) sleep_.emplace(time::add(time::now(), gap_));
    return polled;
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Throttle, "throttle", all_of, &Throttle::source_, &Throttle::sleep_)

 private:
  internal::Source<S> source_;
  time::Nanoseconds gap_;
  internal::Maybe<Sleep> sleep_;  // after an item
};

template <class S, class Rep, class Period>
auto throttle(S&& stream, std::chrono::duration<Rep, Period> gap) {
  if constexpr (internal::can_keep_stream<S>()) {
    return Throttle<std::remove_cvref_t<S>>(std::forward<S>(stream), internal::saturate(gap));
  }
}

}  // namespace rouse::stream
