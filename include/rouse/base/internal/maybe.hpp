// Maybe<T>: a T or nothing, as small as can be said: what Poll and Result keep. std::optional's
// conversions and comparisons cost a compiler more than all else of those two, and every type that
// is awaited pays for them. It is trivial where T is.
#pragma once

#include <utility>

#include "rouse/base/internal/construct.hpp"
#include "rouse/base/internal/type_checks.hpp"
#include "rouse/base/shape.hpp"

namespace rouse::internal {

template <class T>
class Maybe {
 public:
  constexpr Maybe() noexcept : nothing_() {}
  template <class... Args>
  constexpr explicit Maybe(std::in_place_t, Args&&... args)
      : value_(std::forward<Args>(args)...), has_value_(true) {}

  Maybe(const Maybe&)
    requires TriviallyCopied<T>
  = default;
  constexpr Maybe(const Maybe& other)
    requires(!TriviallyCopied<T> && Constructible<T, const T&>)
      : nothing_() {
    if (other.has_value_) emplace(other.value_);
  }
  Maybe(Maybe&&)
    requires TriviallyMoved<T>
  = default;
  constexpr Maybe(Maybe&& other) noexcept(NothrowConstructible<T, T>)
    requires(!TriviallyMoved<T> && Constructible<T, T>)
      : nothing_() {
    if (other.has_value_) emplace(std::move(other.value_));
  }

  Maybe& operator=(const Maybe&)
    requires TriviallyCopyAssigned<T>
  = default;
  constexpr Maybe& operator=(const Maybe& other)
    requires(!TriviallyCopyAssigned<T> && Constructible<T, const T&> &&
             __is_assignable(T&, const T&))
  {
    assign(other);
    return *this;
  }
  Maybe& operator=(Maybe&&)
    requires TriviallyMoveAssigned<T>
  = default;
  constexpr Maybe& operator=(Maybe&& other) noexcept(NothrowConstructible<T, T> &&
                                                     __is_nothrow_assignable(T&, T))
    requires(!TriviallyMoveAssigned<T> && Constructible<T, T> && __is_assignable(T&, T))
  {
    assign(std::move(other));
    return *this;
  }

  ~Maybe()
    requires TriviallyDestroyed<T>
  = default;
  constexpr ~Maybe() {
    if (has_value_) value_.~T();
  }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Maybe, nullptr, maybe, &Maybe::value_, &Maybe::has_value_)
  [[nodiscard]] constexpr bool has_value() const noexcept { return has_value_; }
  constexpr explicit operator bool() const noexcept { return has_value_; }
  constexpr T& operator*() & noexcept { return value_; }
  constexpr const T& operator*() const& noexcept { return value_; }
  constexpr T&& operator*() && noexcept { return std::move(value_); }

  /// Has no value so far.
  template <class... Args>
  constexpr void emplace(Args&&... args) {
    construct(address_of(value_), std::forward<Args>(args)...);
    has_value_ = true;
  }
  constexpr void reset() noexcept {
    if (!has_value_) return;
    has_value_ = false;
    if constexpr (!TriviallyDestroyed<T>) value_.~T();
  }

 private:
  template <class Other>
  constexpr void assign(Other&& other) {
    if (has_value_ && other.has_value_) {
      value_ = std::forward<Other>(other).value_;
    } else if (other.has_value_) {
      emplace(std::forward<Other>(other).value_);
    } else {
      reset();
    }
  }

  union {
    char nothing_;
    T value_;
  };
  bool has_value_ = false;
};

}  // namespace rouse::internal
