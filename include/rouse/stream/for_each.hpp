// for_each(s, fn): reads `s` to its end and calls `fn(item)` for each item. If `fn` returns a
// future, that completes before the next item is polled. The output is void.
//
// Completes when `s` has ended. A stream passed as an lvalue is borrowed, and can be read further
// if this is dropped. The poll throws what `s`, `fn` or its future throws; that ends it.
// Cancel safety: dropping it drops the running future, with its item.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/internal/source.hpp"
#include "rouse/stream/then.hpp"

namespace rouse::stream {

template <Stream S, class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] ForEach {
 public:
  using Output = void;

  ForEach(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  Poll<void> poll(Context& cx) {
    ROUSE_ASSERT(!source_.is_over(), "for_each(s, fn) was polled again after it was ready");
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (!internal::has_item(polled)) return Poll<void>::ready();
      static_cast<void>(fn_(internal::take_item(polled)));
    }
  }

  /// Whether the stream is borrowed or borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ForEach, nullptr, one, &ForEach::source_)

 private:
  internal::Source<S> source_;
  Fn fn_;
};

}  // namespace rouse::stream

namespace rouse::internal {

/// Does nothing with an item.
struct Ignore {
  template <class T>
  void operator()(T&&) const noexcept {}
};

}  // namespace rouse::internal

namespace rouse::stream {

template <class S, class Fn>
auto for_each(S&& stream, Fn&& fn) {
  using Own = internal::read_t<S>;
  if constexpr (internal::can_keep_stream<Own>()) {
    using KeptFn = std::decay_t<Fn>;
    constexpr bool fits = internal::Takes<KeptFn, item_t<Own>>;
    static_assert(fits, "for_each(s, fn): fn can't be called with an item of s");
    if constexpr (!fits) {
      return;
    } else if constexpr (Future<std::remove_cvref_t<std::invoke_result_t<KeptFn&, item_t<Own>>>>) {
      using Runs = Then<Own, KeptFn>;
      return ForEach<Runs, internal::Ignore>(
          Runs(Own(std::forward<S>(stream)), std::forward<Fn>(fn)), internal::Ignore());
    } else {
      return ForEach<Own, KeptFn>(Own(std::forward<S>(stream)), std::forward<Fn>(fn));
    }
  }
}

}  // namespace rouse::stream
