// Source<S>: the stream that an adapter owns. It is destroyed the moment it has ended, so what it
// holds is released then, and it is never polled after its end: from then on the source itself says
// that it is over. An adapter that has one may be moved until its first poll.
//
// With it come the few words that all adapters share.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::internal {

template <Stream S>
class Source {
 public:
  using Item = item_t<S>;

  explicit Source(S&& stream) : stream_(std::in_place, std::move(stream)) {}

  PollNext<Item> poll_next(Context& cx) {
    move_check_.set_polled();
    if (!stream_) return PollNext<Item>::ready(std::nullopt);
    PollNext<Item> polled = (*stream_).poll_next(cx);
    if (polled.is_ready() && !polled.value()) stream_.reset();
    return polled;
  }

  /// Drops the stream before its end.
  void end() noexcept { stream_.reset(); }
  [[nodiscard]] bool is_over() const noexcept { return !stream_; }
  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return stream_ && future_borrows(*stream_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Source, nullptr, one, &Source::stream_)

 private:
  Maybe<S> stream_;
  MovableUntilPolled move_check_;
};

template <class T>
[[nodiscard]] bool has_item(const PollNext<T>& polled) noexcept {
  return polled.is_ready() && polled.value().has_value();
}

/// The item of a poll that has one.
template <class T>
[[nodiscard]] T&& take_item(PollNext<T>& polled) noexcept {
  return *std::move(polled).unchecked();
}

/// A poll without an item, as one of an adapter that gives other items: pending, or the end.
template <class To, class From>
[[nodiscard]] PollNext<To> without_item(const PollNext<From>& polled) noexcept {
  if (polled.is_pending()) return pending;
  return PollNext<To>::ready(std::nullopt);
}

/// A function of the user can be called like this.
template <class Fn, class... Args>
concept Takes = requires(Fn& fn, Args&&... args) { fn(std::forward<Args>(args)...); };

/// True if an adapter can keep what it was given as `S&&`; else the program does not compile.
template <class S>
constexpr bool can_keep_stream() noexcept {
  using Kept = std::remove_cvref_t<S>;
  constexpr bool is_kept = std::constructible_from<Kept, S>;
  static_assert(Stream<Kept>,
                "this needs a rouse::Stream: a type with `using Item = T;` and "
                "`rouse::Poll<std::optional<T>> poll_next(rouse::Context&)`; did you pass a "
                "function instead of calling it, or a range without stream::iter?");
  static_assert(!Stream<Kept> || is_kept,
                "streams are kept by value and this one can't be copied: write std::move(s), or "
                "stream::by_ref(s) to read it here and go on with it later");
  return Stream<Kept> && is_kept;
}

}  // namespace rouse::internal
