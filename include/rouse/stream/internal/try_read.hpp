// What the functions for streams of Results share: TryRead reads one until its first error.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/unit.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::internal {

/// True if `S&&` is a stream of Results that can be kept; otherwise the program does not compile.
template <class S>
constexpr bool can_try_stream() noexcept {
  if constexpr (can_keep_stream<S>()) {
    constexpr bool gives_results = is_result<item_t<std::remove_cvref_t<S>>>;
    static_assert(gives_results,
                  "this needs a stream of rouse::Result: of others, `next` throws what they throw");
    return gives_results;
  } else {
    return false;
  }
}

/// Calls `fn` with the value of `item`; without arguments, if that is a Result<void>.
template <class Fn, class Item>
auto call_with_value(Fn& fn, Item&& item) -> decltype(fn(*std::move(item))) {
  return fn(*std::move(item));
}
template <class Fn>
auto call_with_value(Fn& fn, Result<void>&&) -> decltype(fn()) {
  return fn();
}
template <class Fn, class Item>
concept TakesValue = requires(Fn& fn, Item item) { call_with_value(fn, std::move(item)); };

/// `step(value, item)`, for each item that has a value, returns a Result<void>. Completes with the
/// value at the end of the stream, or with the first error of an item or a step.
template <Stream S, class T, class Step>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] TryRead
    : public ResultFuture<TryRead<S, T, Step>, T> {
 public:
  TryRead(S stream, stored_t<T> value, Step step)
      : source_(std::move(stream)), value_(std::move(value)), step_(std::move(step)) {}

  Poll<Result<T>> poll_result(Context& cx) {
    ROUSE_ASSERT(!source_.is_over(), "a future of a stream was polled again after it was ready");
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (!polled.value()) {
        if constexpr (std::is_void_v<T>)
          return Poll<Result<T>>::ready(Result<T>());
        else
          return Poll<Result<T>>::ready(std::move(value_));
      }
      auto& item = *polled.value();
      const Result<void> stepped = item ? step_(value_, std::move(item)) : item.error();
      if (stepped) continue;
      source_.end();
      return Poll<Result<T>>::ready(stepped.error());
    }
  }

  /// Whether the stream is borrowed or borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(TryRead, nullptr, one, &TryRead::source_)

 private:
  Source<S> source_;
  stored_t<T> value_;
  Step step_;
};

template <class T, class S, class Step>
auto try_read(S&& stream, stored_t<T> value, Step step) {
  using Own = read_t<S>;
  if constexpr (can_try_stream<Own>()) {
    return TryRead<Own, T, Step>(Own(std::forward<S>(stream)), std::move(value), std::move(step));
  }
}

}  // namespace rouse::internal
