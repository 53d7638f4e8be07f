// by_ref(s): the stream `s`, borrowed: adapters of it end and `s` goes on. `s` must neither move
// nor end before it. After the end of `s` it is not polled again.
//
//   auto header = co_await stream::collect(stream::take(stream::by_ref(lines), 3));
//
// What is read through it is gone from `s`, also what an adapter has read and not yet given.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/stream.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard(
    "a stream does nothing until it is read: write `while (auto item = co_await "
    "next(s))`")]] StreamRef {
 public:
  using Item = item_t<S>;

  explicit StreamRef(S& stream) noexcept : stream_(stream) {}

  PollNext<Item> poll_next(Context& cx) { return stream_.poll_next(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  S& stream_;
};

template <class S>
auto by_ref(S& stream) noexcept {
  static_assert(Stream<S>, "by_ref needs a rouse::Stream that is not const");
  if constexpr (Stream<S>) return StreamRef<S>(stream);
}

/// What a future reads to the end: a stream given as an rvalue is its own, an lvalue is borrowed.
template <class S>
struct Read {
  using Type = std::remove_cvref_t<S>;
};
template <Stream S>
struct Read<S&> {
  using Type = StreamRef<S>;
};
template <class S>
using read_t = typename Read<S>::Type;

}  // namespace rouse::stream
