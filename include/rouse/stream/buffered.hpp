// buffered(s, n): `s` gives futures; at most `n` of them run at the same time, and their outputs
// are the items, in the order of `s`. Unit stands for a void output, a pointer for a reference.
//
// An output that waits for its turn counts as one of the `n`. A poll first takes futures out of `s`
// until there are `n`, then polls those that were woken. They run while this stream is polled: in
// one task.
// What `s` throws, poll_next throws at once; what a future throws, in its turn; the others go on.
// Cancel safety: dropping it drops the futures, and outputs that wait for their turn; dropping
// next() loses nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/core/outcome.hpp"
#include "rouse/stream/buffer_unordered.hpp"

namespace rouse::stream {

/// A future whose outcome goes to its place.
template <Future F>
class Placed {
 public:
  using Output = void;

  Placed(F&& future, Outcome<output_t<F>>& place) : future_(std::move(future)), place_(place) {}

  Poll<void> poll(Context& cx) {
    if (!poll_into(place_, future_, cx)) return pending;
    return Poll<void>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(future_); }

 private:
  F future_;
  Outcome<output_t<F>>& place_;
};

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] Buffered {
  using F = item_t<S>;

 public:
  using Item = stored_t<output_t<F>>;

  Buffered(S stream, std::size_t limit) : source_(std::move(stream)), limit_(limit) {
    ROUSE_ASSERT(limit > 0, "a stream that may run 0 futures at a time would never give anything");
  }

  PollNext<Item> poll_next(Context& cx) {
    while (places_.size() < limit_) {
      auto polled = source_.poll_next(cx);
      if (!has_item(polled)) break;
      begin(take_item(polled));
    }
    if (places_.empty()) {
      return source_.is_over() ? PollNext<Item>::ready(std::nullopt) : PollNext<Item>(pending);
    }
    while (!places_.front().is_set()) {
      if (running_.poll_next(cx).is_pending()) return pending;
    }
    Outcome<output_t<F>> outcome(std::move(places_.front()));
    places_.pop_front();
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    return PollNext<Item>::ready(std::move(outcome.stored()));
  }

  /// Whether the stream or a future that runs borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows() || running_.borrows(); }

 private:
  void begin(F&& future) {
    places_.emplace_back();
    try {
      running_.push_before_poll(Placed<F>(std::move(future), places_.back()));
    } catch (...) {
      places_.pop_back();
      throw;
    }
  }

  Source<S> source_;
  std::size_t limit_;
  std::deque<Outcome<output_t<F>>> places_;  // in order; elements never move
  FuturesUnordered<Placed<F>> running_;      // ends before the places it refers to
};

template <class S>
auto buffered(S&& stream, std::size_t limit) {
  if constexpr (can_keep_futures<S>()) {
    return Buffered<std::remove_cvref_t<S>>(std::forward<S>(stream), limit);
  }
}

}  // namespace rouse::stream
