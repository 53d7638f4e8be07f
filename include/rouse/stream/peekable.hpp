// peekable(s): the items of `s`, the next of which can be looked at before it is taken.
//
//   auto tokens = stream::peekable(std::move(s));
//   if (Token* first = co_await tokens.peek(); first && first->is_sign()) ...
//   while (auto digit = co_await tokens.next_if(is_digit)) add(*digit);
//
// poll_next, `peek` and `next_if` throw what `s` throws. The futures borrow the stream, which must
// neither move nor be destroyed before them.
// Cancel safety: dropping a future loses nothing; dropping the stream loses the item that was
// looked at.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/future/poll_fn.hpp"
#include "rouse/stream/filter.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::internal {

/// A future of a Peekable, which it borrows.
template <class Fn>
class Peeking : public PollFn<Fn> {
 public:
  explicit Peeking(Fn fn) : PollFn<Fn>(std::move(fn)) {}
  [[nodiscard]] static bool borrows() noexcept { return true; }
};

}  // namespace rouse::internal

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Peekable {
 public:
  using Item = item_t<S>;

  explicit Peekable(S stream) : source_(std::move(stream)) {}

  PollNext<Item> poll_next(Context& cx) {
    if (!item_) return source_.poll_next(cx);
    return PollNext<Item>::ready(std::exchange(item_, std::nullopt));
  }
  /// The poll of `peek`.
  Poll<Item*> poll_peek(Context& cx) {
    if (!item_) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (polled.value()) item_.emplace(internal::take_item(polled));
    }
    return Poll<Item*>::ready(item_ ? &*item_ : nullptr);
  }

  /// Completes with the next item, which stays in the stream and may be changed there; null at the
  /// end.
  [[nodiscard]] auto peek() noexcept {
    return internal::Peeking([this](Context& cx) { return poll_peek(cx); });
  }
  /// Completes with the next item if `fn(item)` is true; else with an empty optional, and the item
  /// stays.
  template <Predicate<Item> Fn>
  [[nodiscard]] auto next_if(Fn fn) {
    return internal::Peeking([this, fn = std::move(fn)](Context& cx) mutable -> PollNext<Item> {
      const Poll<Item*> peeked = poll_peek(cx);
      if (peeked.is_pending()) return pending;
      if (!item_ || !fn(std::as_const(*item_))) return PollNext<Item>::ready(std::nullopt);
      return poll_next(cx);
    });
  }

  /// Whether the stream borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Peekable, nullptr, one, &Peekable::source_)

 private:
  internal::Source<S> source_;
  std::optional<Item> item_;
};

template <class S>
auto peekable(S&& stream) {
  if constexpr (internal::can_keep_stream<S>()) {
    return Peekable<std::remove_cvref_t<S>>(std::forward<S>(stream));
  }
}

}  // namespace rouse::stream
