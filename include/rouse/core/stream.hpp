// The Stream concept: anything with an `Item` type and a `poll_next`: a future that gives many
// values, one after another, and says when there are no more.
//
// Contract: poll_next gives an item, or std::nullopt at the end. A poll that returns pending has
// stored the waker of the latest context; whoever makes progress possible calls wake(). A poll that
// throws has lost one item, not the stream: the next poll gives the next item or the end. After the
// end it is not polled again, unless its type allows it. It may be moved until its first poll,
// never after, unless its type allows it. Destroying it at any point cancels it. A stream that may
// always be ready takes a step of the budget for each item (core/context.hpp): loops that read it
// rely on that.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"

namespace rouse {

/// What poll_next returns.
template <class T>
using PollNext = Poll<std::optional<T>>;

template <class S>
concept Stream = requires(S& stream, Context& cx) {
  typename S::Item;
  { stream.poll_next(cx) } -> std::same_as<PollNext<typename S::Item>>;
};

/// What a stream gives.
template <Stream S>
using item_t = typename S::Item;

/// The next item of a stream, or an empty optional at its end; throws what its poll_next throws.
/// Borrows the stream, which must neither move nor be destroyed before it.
/// Cancel safety: dropping it loses nothing; the next `next` continues there.
template <class S>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Next {
 public:
  using Output = std::optional<typename S::Item>;

  explicit Next(S& stream) noexcept : stream_(&stream) {}

  Poll<Output> poll(Context& cx) { return stream_->poll_next(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Next, nullptr, one, &Next::stream_)

 private:
  S* stream_;
};

}  // namespace rouse
