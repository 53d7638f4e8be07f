// Poll<T>: the result of polling a future: the value, or "not yet".
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/maybe.hpp"

namespace rouse {

/// Converts to every Poll<T>: `return pending;`.
struct Pending {
  explicit constexpr Pending() = default;
};
inline constexpr Pending pending{};

template <class T = void>
class [[nodiscard]] Poll {
  using Stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  constexpr Poll(Pending) noexcept {}
  Poll(const Poll&) = default;
  Poll(Poll&&) = default;
  Poll& operator=(const Poll&) = default;
  /// Constructs the value anew: a movable type need not be assignable, e.g. a lock's guard.
  constexpr Poll& operator=(Poll&& other) noexcept(internal::NothrowConstructible<Stored, Stored>) {
    if (this == &other) return *this;
    value_.reset();
    if (other.value_) value_.emplace(*std::move(other.value_));
    return *this;
  }
  ~Poll() = default;

  /// With a value.
  template <class U = T>
    requires internal::Constructible<T, U&&>
  static constexpr Poll ready(U&& value) {
    if constexpr (std::is_reference_v<T>) {
      return Poll(std::in_place, &value);
    } else {
      return Poll(std::in_place, std::forward<U>(value));
    }
  }

  /// Whether there is a value.
  [[nodiscard]] constexpr bool is_ready() const noexcept { return value_.has_value(); }
  /// Whether there is no value yet.
  [[nodiscard]] constexpr bool is_pending() const noexcept { return !value_.has_value(); }

  /// The value; must be ready.
  constexpr T& value() & {
    ROUSE_ASSERT(is_ready(), "value() of a pending Poll: ask is_ready() first");
    return get();
  }
  constexpr const std::remove_reference_t<T>& value() const& {
    return const_cast<Poll*>(this)->value();
  }
  constexpr T&& value() && { return static_cast<T&&>(value()); }
  /// The value of a Poll that is known to be ready.
  constexpr T&& unchecked() && noexcept { return static_cast<T&&>(get()); }

  /// Poll<U> with `fn(value)` if ready; pending stays pending.
  template <class Fn>
  constexpr auto map(Fn&& fn) && -> Poll<std::invoke_result_t<Fn, T>> {
    using U = std::invoke_result_t<Fn, T>;
    if (is_pending()) return pending;
    if constexpr (std::is_void_v<U>) {
      std::forward<Fn>(fn)(std::move(*this).value());
      return Poll<U>::ready();
    } else {
      return Poll<U>::ready(std::forward<Fn>(fn)(std::move(*this).value()));
    }
  }

 private:
  template <class U>
  constexpr Poll(std::in_place_t, U&& value) : value_(std::in_place, std::forward<U>(value)) {}

  constexpr T& get() noexcept {
    if constexpr (std::is_reference_v<T>) {
      return **value_;
    } else {
      return *value_;
    }
  }

  internal::Maybe<Stored> value_;
};

template <>
class [[nodiscard]] Poll<void> {
 public:
  constexpr Poll(Pending) noexcept {}
  static constexpr Poll ready() noexcept {
    Poll poll(pending);
    poll.ready_ = true;
    return poll;
  }
  [[nodiscard]] constexpr bool is_ready() const noexcept { return ready_; }
  [[nodiscard]] constexpr bool is_pending() const noexcept { return !ready_; }
  constexpr void value() const {
    ROUSE_ASSERT(ready_, "value() of a pending Poll: ask is_ready() first");
  }
  constexpr void unchecked() const noexcept {}
  template <class Fn>
  constexpr auto map(Fn&& fn) const -> Poll<std::invoke_result_t<Fn>> {
    using U = std::invoke_result_t<Fn>;
    if (!ready_) return pending;
    if constexpr (std::is_void_v<U>) {
      std::forward<Fn>(fn)();
      return Poll<U>::ready();
    } else {
      return Poll<U>::ready(std::forward<Fn>(fn)());
    }
  }

 private:
  bool ready_ = false;
};

}  // namespace rouse
