// Fallible<Op, T>: base of a future that may fail with an error code. `Op` has
// `Poll<Result<T>> poll_result(Context&)`, which does not throw; this adds the two ways to await
// it:
//
//   T value = co_await op;                    // or throws std::system_error
//   Result<T> r = co_await op.result();       // never throws
#pragma once

#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"

namespace rouse {

/// The same operation, polled to a Result.
template <class Op, class T>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] ResultOf {
 public:
  using Output = Result<T>;

  explicit ResultOf(Op&& op) : op_(std::move(op)) {}
  Poll<Result<T>> poll(Context& cx) { return op_.poll_result(cx); }
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(op_); }

 private:
  Op op_;
};

template <class Op, class T>
class Fallible {
 public:
  using Output = T;

  /// The value, or throws std::system_error.
  Poll<T> poll(Context& cx) {
    Poll<Result<T>> polled = self().poll_result(cx);
    if (polled.is_pending()) return pending;
    Result<T>& result = polled.value();
    if (!result.has_value()) fail(result.error());
    if constexpr (std::is_void_v<T>) {
      return Poll<T>::ready();
    } else {
      return Poll<T>::ready(*std::move(result));
    }
  }

  /// The operation as a future of a Result<T>. Before the first poll.
  [[nodiscard]] ResultOf<Op, T> result() && { return ResultOf<Op, T>(std::move(self())); }
  [[nodiscard]] ResultOf<Op, T> result() & { return ResultOf<Op, T>(std::move(self())); }

 private:
  friend Op;
  Fallible() noexcept = default;

  Op& self() noexcept { return static_cast<Op&>(*this); }
  [[noreturn, gnu::noinline, gnu::cold]] void fail(std::error_code error) {
    if constexpr (requires { self().throw_error(error); }) self().throw_error(error);
    throw std::system_error(error);
  }
};

}  // namespace rouse
