// timeout(s, duration): the items of `s`; if none comes within `duration`, poll_next throws
// TimedOut, and the stream continues.
//
//   auto frames = stream::timeout(std::move(s), 5s);
//   while (auto frame = co_await stream::next(frames)) use(*frame);   // or throws TimedOut
//
// The time counts from this call to the first item, then from one item to the next, also while
// nobody reads. `s` is polled first: if it has an item, it wins. After a TimedOut the next one
// comes `duration` after the next item at the earliest. Needs a runtime: see sleep. poll_next
// throws what `s` throws, too; that does not count as an item.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/stream/internal/source.hpp"
#include "rouse/time/timeout.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Timeout {
 public:
  using Item = item_t<S>;

  Timeout(S stream, time::Nanoseconds limit, std::source_location where)
      : source_(std::move(stream)),
        limit_(limit),
        timer_(time::add(time::now(), limit)),
        where_(where) {}

  PollNext<Item> poll_next(Context& cx) {
    const bool had_budget = cx.has_budget();  // as in rouse::Timeout
    auto polled = source_.poll_next(cx);
    if (polled.is_ready()) {
      if (!polled.value()) {
        timer_.leave();  // there is nothing left to wait for
        return polled;
      }
      timer_.reset(time::add(time::now(), limit_));
      is_put_off_ = has_told_ = false;
      return polled;
    }
    if (has_told_ || !timer_.poll(cx)) return pending;
    if (!had_budget && !std::exchange(is_put_off_, true)) return pending;
    has_told_ = true;
    internal::throw_timed_out(where_);
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Timeout, "timeout", any_of, &Timeout::source_, &Timeout::timer_)

 private:
  internal::Source<S> source_;
  time::Nanoseconds limit_;
  internal::TimerEntry timer_;
  std::source_location where_;
  bool is_put_off_ = false;
  bool has_told_ = false;  // that the time since the last item is up
};

template <class S, class Rep, class Period>
auto timeout(S&& stream, std::chrono::duration<Rep, Period> limit,
             std::source_location where = std::source_location::current()) {
  if constexpr (internal::can_keep_stream<S>()) {
    return Timeout<std::remove_cvref_t<S>>(std::forward<S>(stream), internal::saturate(limit),
                                           where);
  }
}

}  // namespace rouse::stream
