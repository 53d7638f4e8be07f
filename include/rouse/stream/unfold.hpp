// unfold(state, fn): a stream made of a state. `fn(state)` is a future of
// std::optional<std::pair<Item, State>>: the next item and the next state, or nothing at the end.
//
//   auto pages = stream::unfold(1, [](int page) -> Async<std::optional<std::pair<Page, int>>> {
//     Page got = co_await fetch(page);
//     if (got.empty()) co_return std::nullopt;
//     co_return std::pair(std::move(got), page + 1);
//   });
//
// `fn` is called when the next item is asked for. poll_next throws what `fn` or its future throws;
// the stream has then ended. A coroutine with co_yield (AsyncStream) often says the same in fewer
// words: this is one, and may be moved as one.
// Cancel safety: dropping it drops the running future, with the state.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/async_stream.hpp"
#include "rouse/core/future.hpp"

namespace rouse::internal {

template <class Item, class State, class Fn>
AsyncStream<Item> unfold(State state, Fn fn) {
  std::optional<State> current(std::move(state));
  for (;;) {
    std::optional<std::pair<Item, State>> step = co_await fn(*std::move(current));
    if (!step) co_return;
    current.emplace(std::move(step->second));
    co_yield std::move(step->first);
  }
}

}  // namespace rouse::internal

namespace rouse::stream {

template <class T, class Fn>
auto unfold(T&& state, Fn&& fn) {
  using State = std::decay_t<T>;
  using Made = output_or_void_t<std::invoke_result_t<std::decay_t<Fn>&, State>>;
  constexpr bool fits = requires(Made step) {
    State(std::move(step->second));
    step->first;
  };
  static_assert(fits,
                "unfold(state, fn): fn(state) is to return a future of "
                "std::optional<std::pair<Item, State>>");
  if constexpr (fits) {
    using Item = typename Made::value_type::first_type;
    return internal::unfold<Item, State, std::decay_t<Fn>>(std::forward<T>(state),
                                                           std::forward<Fn>(fn));
  }
}

}  // namespace rouse::stream
