// take_while(s, fn): the items of `s` until the first for which `fn(item)` is false; that one is
// lost, and `s` is dropped. `fn` sees the items as const.
// What `s` or `fn` throws, poll_next throws; the item is lost and the stream may go on.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <utility>

#include "rouse/stream/filter.hpp"
#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] TakeWhile {
 public:
  using Item = item_t<S>;

  TakeWhile(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    auto polled = source_.poll_next(cx);
    if (!has_item(polled) || fn_(std::as_const(*polled.value()))) return polled;
    source_.end();
    return PollNext<Item>::ready(std::nullopt);
  }

  /// Whether the stream borrows: see Async::borrows. The function is not looked into.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  Fn fn_;
};

template <class S, class Fn>
auto take_while(S&& stream, Fn&& fn) {
  return with_predicate<TakeWhile>(std::forward<S>(stream), std::forward<Fn>(fn));
}

}  // namespace rouse::stream
