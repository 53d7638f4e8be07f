// The Stream concept: anything with an `Item` type and a `poll_next`: a future that gives many
// values, one after another, and says when there are no more.
//
// Contract: poll_next gives an item, or nothing (std::nullopt) at the end. A poll that returns
// pending has arranged for the latest context's waker to be woken. A poll that throws has lost one
// item, not the stream: whoever goes on polling gets the next item or the end. After the end it is
// not polled again, unless its type says that it may be. It may be moved until its first poll,
// never after, unless its type says so. Destroying it at any point cancels it.
// A stream that may be ready again and again takes a step of the budget for each item
// (core/context.hpp): those who read it in a loop rely on that.
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

template <Stream S>
using item_t = typename S::Item;

/// The next item of a stream, or nothing at its end; throws what its poll_next throws.
/// Borrows the stream, which must neither move nor end before it.
/// Cancel safety: dropped midway it loses nothing; the stream goes on with the next one.
template <class S>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Next {
 public:
  using Output = std::optional<typename S::Item>;

  explicit Next(S& stream) noexcept : stream_(stream) {}

  Poll<Output> poll(Context& cx) { return stream_.poll_next(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  S& stream_;
};

}  // namespace rouse
