// zip(a, b): pairs of the items of two streams, the first with the first, the second with the
// second, and so on. Both are polled concurrently. When one ends, zip ends and drops both: an item
// of the other that waits for its partner is then lost. poll_next throws what they throw; they
// continue, but with shifted pairs.
// Cancel safety: dropping it loses an item that waits for its partner; dropping next() loses
// nothing.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <Stream First, Stream Second>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Zip {
 public:
  using Item = std::pair<item_t<First>, item_t<Second>>;

  Zip(First first, Second second) : first_(std::move(first)), second_(std::move(second)) {}

  PollNext<Item> poll_next(Context& cx) {
    if (!first_.fill(cx) || !second_.fill(cx)) {
      first_.end();
      second_.end();
      return PollNext<Item>::ready(std::nullopt);
    }
    if (!first_.item || !second_.item) return pending;
    auto both = PollNext<Item>::ready(Item(*std::move(first_.item), *std::move(second_.item)));
    first_.item.reset();
    second_.item.reset();
    return both;
  }

  /// Whether one of the streams borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return first_.source.borrows() || second_.source.borrows();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Zip, "zip", all_of, &Zip::first_, &Zip::second_)

 private:
  template <class S>
  struct Side {
    explicit Side(S&& stream) : source(std::move(stream)) {}
    Side(Side&& other) : source(std::move(other.source)) {}

    /// Gets an item unless there is one. False: the stream has ended.
    bool fill(Context& cx) {
      if (item) return true;
      auto polled = source.poll_next(cx);
      if (internal::has_item(polled)) item.emplace(internal::take_item(polled));
      return polled.is_pending() || item;
    }
    void end() noexcept {
      item.reset();
      source.end();
    }

    /// For a dump: see base/shape.hpp.
    ROUSE_SHAPE(Side, nullptr, one, &Side::source)

    internal::Source<S> source;
    std::optional<item_t<S>> item;
  };

  Side<First> first_;
  Side<Second> second_;
};

template <class First, class Second>
auto zip(First&& first, Second&& second) {
  if constexpr (internal::can_keep_stream<First>() && internal::can_keep_stream<Second>()) {
    return Zip<std::remove_cvref_t<First>, std::remove_cvref_t<Second>>(
        std::forward<First>(first), std::forward<Second>(second));
  }
}

}  // namespace rouse::stream
