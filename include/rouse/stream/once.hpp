// once(v): a stream of one item. empty<T>(): a stream of none.
// Cancel safety: dropping it drops the item.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/stream.hpp"

namespace rouse::stream {

template <class T>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] Once {
 public:
  using Item = T;

  explicit Once(std::optional<T> item) : item_(std::move(item)) {}

  /// May be polled after its end.
  PollNext<T> poll_next(Context&) {
    auto polled = PollNext<T>::ready(std::move(item_));
    item_.reset();
    return polled;
  }

 private:
  std::optional<T> item_;
};

template <class T>
Once<std::decay_t<T>> once(T&& item) {
  return Once<std::decay_t<T>>(
      std::optional<std::decay_t<T>>(std::in_place, std::forward<T>(item)));
}
/// A stream without items.
template <class T>
Once<T> empty() noexcept {
  return Once<T>(std::nullopt);
}

}  // namespace rouse::stream
