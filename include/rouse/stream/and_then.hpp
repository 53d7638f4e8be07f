// and_then(s, fn): `s` gives Results; runs the future `fn(value)` of each value, one after another.
// The items are Results of their outputs (which may be Results themselves); errors of `s` stay as
// they are. poll_next throws what `s`, `fn` or a future throws; the item is lost and the stream
// continues. A future with a `result()` of its own does not throw its error: it is the item.
// Cancel safety: dropping it drops the running future, with its item.
#pragma once

#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/future/try_join.hpp"
#include "rouse/stream/internal/try_read.hpp"
#include "rouse/stream/then.hpp"

namespace rouse::internal {

/// The future of an item that had a value; else its error.
template <Future F>
class AfterOk {
 public:
  using Output = Result<typename Unwrapped<output_t<F>>::Type>;

  explicit AfterOk(F&& future) : future_(std::in_place, std::move(future)) {}
  explicit AfterOk(std::error_code error) noexcept : error_(error) {}

  Poll<Output> poll(Context& cx) {
    if (!future_) return Poll<Output>::ready(error_);
    if constexpr (requires { (*future_).poll_result(cx); }) {
      return (*future_).poll_result(cx);
    } else {
      return (*future_).poll(cx).map([](auto&&... out) { return Output(std::move(out)...); });
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return future_ && future_borrows(*future_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AfterOk, nullptr, one, &AfterOk::future_)

 private:
  Maybe<F> future_;
  std::error_code error_;
};

}  // namespace rouse::internal

namespace rouse::stream {

template <class S, class Fn>
  requires Stream<std::remove_cvref_t<S>>
auto and_then(S&& stream, Fn&& fn) {
  if constexpr (internal::can_try_stream<S>()) {
    using Item = item_t<std::remove_cvref_t<S>>;
    constexpr bool fits = internal::TakesValue<std::decay_t<Fn>, Item>;
    static_assert(fits, "and_then(s, fn): fn can't be called with a value of s");
    if constexpr (fits) {
      using F = decltype(internal::call_with_value(fn, std::declval<Item>()));
      static_assert(Future<F>, "and_then(s, fn): fn returns no future: write map_ok(s, fn)");
      if constexpr (Future<F>) {
        return stream::then(
            std::forward<S>(stream), [fn = std::forward<Fn>(fn)](Item&& item) mutable {
              using Run = internal::AfterOk<F>;
              return item ? Run(internal::call_with_value(fn, std::move(item))) : Run(item.error());
            });
      }
    }
  }
}

}  // namespace rouse::stream
