// filter(s, fn): the items of `s` for which `fn(item)` is true. `fn` sees them as const. poll_next
// throws what `s` or `fn` throws; the item is lost and the stream continues.
// Cancel safety: it holds no item between two polls.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

/// Says yes or no to an item.
template <class Fn, class T>
concept Predicate = requires(Fn& fn, const T& item) {
  { fn(item) } -> std::convertible_to<bool>;
};

template <Stream S, Predicate<item_t<S>> Fn>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Filter {
 public:
  using Item = item_t<S>;

  Filter(S stream, Fn fn) : source_(std::move(stream)), fn_(std::move(fn)) {}

  PollNext<Item> poll_next(Context& cx) {
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (!internal::has_item(polled) || fn_(std::as_const(*polled.value()))) return polled;
    }
  }

  /// Whether the stream borrows: see Async::borrows. The function is not checked.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Filter, nullptr, one, &Filter::source_)

 private:
  internal::Source<S> source_;
  Fn fn_;
};

}  // namespace rouse::stream

namespace rouse::internal {

/// True if `Fn` can be asked about each item of `S&&`; otherwise the program does not compile.
template <class S, class Fn>
constexpr bool takes_predicate() noexcept {
  if constexpr (can_keep_stream<S>()) {
    constexpr bool fits = stream::Predicate<std::decay_t<Fn>, item_t<std::remove_cvref_t<S>>>;
    static_assert(fits, "this needs a function that takes `const Item&` and returns a bool");
    return fits;
  } else {
    return false;
  }
}

}  // namespace rouse::internal

namespace rouse::stream {

template <class S, class Fn>
auto filter(S&& stream, Fn&& fn) {
  if constexpr (internal::takes_predicate<S, Fn>()) {
    return Filter<std::remove_cvref_t<S>, std::decay_t<Fn>>(std::forward<S>(stream),
                                                            std::forward<Fn>(fn));
  }
}

}  // namespace rouse::stream
