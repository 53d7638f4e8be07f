// buffer_unordered(s, n): `s` gives futures; at most `n` of them run concurrently, and their
// outputs are the items, in the order of completion. Unit stands for a void output, a pointer for a
// reference.
//
// A poll first takes futures out of `s` until `n` run, then polls the woken ones
// (future/futures_unordered.hpp). They all run in the task that polls this stream. poll_next throws
// what `s` or a future throws; the others continue.
// Cancel safety: dropping it drops the running futures; dropping next() loses nothing.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::internal {

/// Keeps up to a number of futures of a stream running, in a FuturesUnordered or FuturesOrdered.
template <Stream S, class Running>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] FutureBuffer {
 public:
  using Item = typename Running::Item;

  FutureBuffer(S stream, std::size_t limit) : source_(std::move(stream)), limit_(limit) {
    ROUSE_ASSERT(limit > 0, "a stream that may run 0 futures at a time would never give anything");
  }

  PollNext<Item> poll_next(Context& cx) {
    while (running_.size() < limit_) {
      auto polled = source_.poll_next(cx);
      if (!has_item(polled)) break;
      running_.push_before_poll(take_item(polled));
    }
    if (running_.empty() && !source_.is_over()) return pending;
    return running_.poll_next(cx);
  }

  /// Whether the stream or a running future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows() || running_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FutureBuffer, "buffered", any_of, &FutureBuffer::source_, &FutureBuffer::running_)

 private:
  Source<S> source_;
  std::size_t limit_;
  Running running_;
};

/// True if `S&&` is a stream of futures; otherwise the program does not compile.
template <class S>
constexpr bool can_keep_futures() noexcept {
  if constexpr (can_keep_stream<S>()) {
    static_assert(Future<item_t<std::remove_cvref_t<S>>>,
                  "this needs a stream of futures: map(s, fn) with a fn that returns a future is "
                  "one");
    return Future<item_t<std::remove_cvref_t<S>>>;
  } else {
    return false;
  }
}

}  // namespace rouse::internal

namespace rouse::stream {

template <Stream S>
using BufferUnordered = internal::FutureBuffer<S, FuturesUnordered<item_t<S>>>;

template <class S>
auto buffer_unordered(S&& stream, std::size_t limit) {
  if constexpr (internal::can_keep_futures<S>()) {
    return BufferUnordered<std::remove_cvref_t<S>>(std::forward<S>(stream), limit);
  }
}

}  // namespace rouse::stream
