// ready(v): a future that has its value already. ready(): the same for void.
// Cancel safety: dropping it drops the value.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"

namespace rouse {

template <class T = void>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Ready {
 public:
  using Output = T;

  explicit Ready(T value) : value_(std::move(value)) {}

  Poll<T> poll(Context&) {
    ROUSE_ASSERT(value_.has_value(), "ready(v) was polled again after it was ready");
    Poll<T> result = Poll<T>::ready(*std::move(value_));
    value_.reset();
    return result;
  }

 private:
  std::optional<T> value_;
};

template <>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] Ready<void> {
 public:
  using Output = void;

  Ready() noexcept {}

  Poll<void> poll(Context&) {
    ROUSE_ASSERT(!polled_, "ready() was polled again after it was ready");
    polled_ = true;
    return Poll<void>::ready();
  }

 private:
  bool polled_ = false;
};

template <class T>
Ready<std::decay_t<T>> ready(T&& value) {
  return Ready<std::decay_t<T>>(std::forward<T>(value));
}
inline Ready<void> ready() { return Ready<void>(); }

}  // namespace rouse
