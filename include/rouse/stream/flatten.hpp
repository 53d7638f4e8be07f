// flatten(s): `s` gives streams; the items are those of the first, then those of the second, and
// so on. A stream is dropped at its end; the next one is asked for then. poll_next throws what `s`
// or a stream throws; they continue.
// Cancel safety: dropping it drops the stream that is being read; dropping next() loses nothing.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Flatten {
 public:
  using Item = item_t<item_t<S>>;

  explicit Flatten(S stream) : source_(std::move(stream)) {}

  PollNext<Item> poll_next(Context& cx) {
    for (;;) {
      if (inner_) {
        auto polled = (*inner_).poll_next(cx);
        if (polled.is_pending() || polled.value()) return polled;
        inner_.reset();
      }
      auto polled = source_.poll_next(cx);
      if (!internal::has_item(polled)) return internal::without_item<Item>(polled);
      inner_.emplace(internal::take_item(polled));
    }
  }

  /// Whether a stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return source_.borrows() || (inner_ && internal::future_borrows(*inner_));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Flatten, "flatten", all_of, &Flatten::source_, &Flatten::inner_)

 private:
  internal::Source<S> source_;
  internal::Maybe<item_t<S>> inner_;
};

template <class S>
auto flatten(S&& stream) {
  if constexpr (internal::can_keep_stream<S>()) {
    using Kept = std::remove_cvref_t<S>;
    static_assert(Stream<item_t<Kept>>,
                  "flatten needs a stream of streams: of ranges make streams with stream::iter");
    if constexpr (Stream<item_t<Kept>>) return Flatten<Kept>(std::forward<S>(stream));
  }
}

}  // namespace rouse::stream
