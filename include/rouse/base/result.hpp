// Result<T>: a value or a std::error_code. For errors that are outcomes; broken contracts abort,
// and a task's own failures are exceptions.
#pragma once

#include <concepts>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"

namespace rouse {

template <class T = void>
class Result;

class ResultBase;

namespace internal {

template <class R>
inline constexpr bool is_result = false;

template <class T>
inline constexpr bool is_result<Result<T>> = true;

/// std::system_error with the error that this holds.
[[noreturn]] ROUSE_API void throw_error_of(const ResultBase& failed);

}  // namespace internal

/// What the two kinds of Result share: the error code, in parts. A std::error_code that says
/// success would cost a call into the standard library to make.
class [[nodiscard]] ResultBase {
 public:
  /// Whether it holds a value and no error.
  [[nodiscard]] bool has_value() const noexcept { return category_ == nullptr; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The error; must have one.
  [[nodiscard]] std::error_code error() const noexcept {
    ROUSE_ASSERT(!has_value(), "error() of a Result that has a value: ask has_value() first");
    return std::error_code(value_, *category_);
  }

 protected:
  ResultBase() noexcept = default;
  explicit ResultBase(std::error_code error) noexcept
      : value_(error.value()), category_(&error.category()) {
    ROUSE_ASSERT(error, "a Result was made from an error_code that says success");
  }
  void throw_error() const {
    if (!has_value()) [[unlikely]]
      internal::throw_error_of(*this);
  }

 private:
  int value_ = 0;
  const std::error_category* category_ = nullptr;  // null: there is a value
};

template <class T>
class [[nodiscard]] Result : public ResultBase {
  static_assert(!std::is_reference_v<T>, "Result<T&>: use a pointer");
  static_assert(!internal::Convertible<T, std::error_code> && !std::same_as<T, std::errc>,
                "Result<T> takes an error code for its error, never for its value: give "
                "Result<void>, or a type of your own that holds the code (also from a future that "
                "gets a timeout)");

 public:
  using value_type = T;

  template <class U = T>
    requires(internal::Constructible<T, U &&> && !std::same_as<std::remove_cvref_t<U>, Result> &&
             !internal::Convertible<U &&, std::error_code>)
  explicit(!internal::Convertible<U&&, T>) Result(U&& value)
      : value_(std::in_place, std::forward<U>(value)) {}
  Result(std::error_code error) noexcept : ResultBase(error) {}
  Result(std::errc error) noexcept : ResultBase(std::make_error_code(error)) {}
  /// Of an enum of error codes, e.g. io::Error::too_long.
  template <class E>
    requires std::is_error_code_enum<E>::value
  Result(E error) noexcept : ResultBase(std::error_code(error)) {}

  /// The value, or throws std::system_error.
  T& value() & {
    throw_error();
    return *value_;
  }
  const T& value() const& {
    throw_error();
    return *value_;
  }
  T&& value() && {
    throw_error();
    return *std::move(value_);
  }

  /// The value; must have one.
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

  /// The value, or `other` if there is an error.
  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? *value_ : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return has_value() ? *std::move(value_) : static_cast<T>(std::forward<U>(other));
  }

  /// Result<U> with `fn(value)`; an error stays as it is.
  template <class Fn>
  auto map(Fn&& fn) && -> Result<std::invoke_result_t<Fn, T>> {
    using U = std::invoke_result_t<Fn, T>;
    if (!has_value()) return error();
    if constexpr (std::is_void_v<U>) {
      std::forward<Fn>(fn)(*std::move(value_));
      return {};
    } else {
      return std::forward<Fn>(fn)(*std::move(value_));
    }
  }
  /// `fn(value)`, itself a Result; an error stays as it is.
  template <class Fn>
  auto and_then(Fn&& fn) && -> std::invoke_result_t<Fn, T> {
    if (!has_value()) return error();
    return std::forward<Fn>(fn)(*std::move(value_));
  }
  /// `fn(error)`, a Result of the same type; a value stays as it is.
  template <class Fn>
  Result or_else(Fn&& fn) && {
    if (has_value()) return std::move(*this);
    return std::forward<Fn>(fn)(error());
  }

 private:
  T& checked() {
    ROUSE_ASSERT(has_value(), "* of a Result that holds an error: ask has_value(), or use value()");
    return *value_;
  }
  internal::Maybe<T> value_;
};

template <>
class [[nodiscard]] Result<void> : public ResultBase {
 public:
  using value_type = void;

  Result() noexcept = default;
  Result(std::error_code error) noexcept : ResultBase(error) {}
  Result(std::errc error) noexcept : ResultBase(std::make_error_code(error)) {}
  /// Of an enum of error codes, e.g. io::Error::too_long.
  template <class E>
    requires std::is_error_code_enum<E>::value
  Result(E error) noexcept : ResultBase(std::error_code(error)) {}

  /// Throws std::system_error if there is an error.
  void value() const { throw_error(); }
  void operator*() const {
    ROUSE_ASSERT(has_value(), "* of a Result that holds an error: ask has_value(), or use value()");
  }

  template <class Fn>
  auto map(Fn&& fn) const -> Result<std::invoke_result_t<Fn>> {
    using U = std::invoke_result_t<Fn>;
    if (!has_value()) return error();
    if constexpr (std::is_void_v<U>) {
      std::forward<Fn>(fn)();
      return {};
    } else {
      return std::forward<Fn>(fn)();
    }
  }
  template <class Fn>
  auto and_then(Fn&& fn) const -> std::invoke_result_t<Fn> {
    if (!has_value()) return error();
    return std::forward<Fn>(fn)();
  }
  template <class Fn>
  Result or_else(Fn&& fn) const {
    if (has_value()) return *this;
    return std::forward<Fn>(fn)(error());
  }
};

}  // namespace rouse
