// by_ref(s): borrows the stream `s`: its adapters can be destroyed, and `s` continues. `s` must
// neither move nor be destroyed before it. After the end of `s` it is not polled again.
//
//   auto header = co_await stream::collect(stream::take(stream::by_ref(lines), 3));
//
// Items read through it are gone from `s`, even those that an adapter has read but not yet given.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::stream {

/// The stream of by_ref: see there.
template <Stream S>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] StreamRef {
 public:
  using Item = item_t<S>;

  explicit StreamRef(S& stream) noexcept : stream_(&stream) {}

  PollNext<Item> poll_next(Context& cx) { return stream_->poll_next(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(StreamRef, nullptr, one, &StreamRef::stream_)

 private:
  S* stream_;
};

template <class S>
  requires(Stream<S> || !Future<S>)  // futures have their own
auto by_ref(S& stream) noexcept {
  static_assert(Stream<S>, "by_ref needs a rouse::Stream that is not const");
  if constexpr (Stream<S>) return StreamRef<S>(stream);
}

}  // namespace rouse::stream

namespace rouse::internal {

/// The stream that a consumer reads: owned if passed as an rvalue, borrowed if an lvalue.
template <class S>
struct Read {
  using Type = std::remove_cvref_t<S>;
};

template <Stream S>
struct Read<S&> {
  using Type = stream::StreamRef<S>;
};

template <class S>
using read_t = typename Read<S>::Type;

}  // namespace rouse::internal
