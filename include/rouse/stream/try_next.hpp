// try_next(s): a future of the next value of `s`, a stream of Results, or of an empty optional at
// its end. Borrows `s`.
//
//   while (auto frame = co_await stream::try_next(frames)) use(*frame);     // throws its error
//   auto frame = co_await stream::try_next(frames).result();                // never throws it
//
// Completes when poll_next of `s` does.
// Cancel safety: dropping it loses nothing.
// Errors: that of the item; the stream can be read on if its type allows it.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/try_read.hpp"

namespace rouse::stream {

template <Stream S>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] TryNext
    : public ResultFuture<TryNext<S>, std::optional<typename item_t<S>::value_type>> {
 public:
  explicit TryNext(S& stream) noexcept : stream_(&stream) {}

  auto poll_result(Context& cx) {
    using Value = std::optional<typename item_t<S>::value_type>;
    return stream_->poll_next(cx).map([](std::optional<item_t<S>>&& item) {
      if (!item) return Result<Value>(Value());
      return (*std::move(item)).map([](auto&& value) { return Value(std::move(value)); });
    });
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TryNext, nullptr, one, &TryNext::stream_)

 private:
  S* stream_;
};

template <class S>
auto try_next(S& stream) noexcept {
  if constexpr (internal::can_try_stream<StreamRef<S>>()) return TryNext<S>(stream);
}

}  // namespace rouse::stream
