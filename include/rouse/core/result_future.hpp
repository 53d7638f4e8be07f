// ResultFuture<Op, T>: base of a future that may fail with an error code. `Op` has
// `Poll<Result<T>> poll_result(Context&)`, which does not throw; this adds the two ways to await
// it:
//
//   T value = co_await op;                    // or throws std::system_error
//   Result<T> r = co_await op.result();       // never throws
#pragma once

#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"

namespace rouse {

namespace internal {

/// Polls `future` once, and destroys it when it is done, also if it throws.
template <Future F>
Poll<output_t<F>> finish(Maybe<F>& future, Context& cx) {
  try {
    auto polled = (*future).poll(cx);
    if (polled.is_ready()) future.reset();
    return polled;
  } catch (...) {
    future.reset();
    throw;
  }
}

/// The same. One with an error code of its own gives that, others throw.
template <Future F>
Poll<Result<output_t<F>>> finish_as_result(Maybe<F>& future, Context& cx) {
  using Ready = Poll<Result<output_t<F>>>;
  if constexpr (requires(F& op) { op.poll_result(cx); }) {
    Ready polled = (*future).poll_result(cx);
    if (polled.is_ready()) future.reset();
    return polled;
  } else {
    auto polled = finish(future, cx);
    if (polled.is_pending()) return pending;
    if constexpr (std::is_void_v<output_t<F>>) {
      return Ready::ready(Result<void>());
    } else {
      return Ready::ready(Result<output_t<F>>(std::move(polled).value()));
    }
  }
}

}  // namespace internal

/// The same operation, polled to a Result.
template <class Op, class T>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] ResultOf {
 public:
  using Output = Result<T>;
  static constexpr bool polled_out_of_line = true;

  explicit ResultOf(Op&& op) : op_(std::move(op)) {}
  Poll<Result<T>> poll(Context& cx) { return op_.poll_result(cx); }
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(op_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ResultOf, nullptr, one, &ResultOf::op_)

 private:
  Op op_;
};

template <class Op, class T>
class ResultFuture {
 public:
  using Output = T;

  using FailsWithResult = void;
  static constexpr bool polled_out_of_line = true;

  /// The value, or throws std::system_error.
  Poll<T> poll(Context& cx) {
    Poll<Result<T>> polled = self().poll_or_throw(cx);
    if (polled.is_pending()) return pending;
    Result<T>& result = polled.value();
    if (!result.has_value()) [[unlikely]]
      fail(result);
    if constexpr (std::is_void_v<T>) {
      return Poll<T>::ready();
    } else {
      return Poll<T>::ready(*std::move(result));
    }
  }
  /// As poll_result, for those who throw what it gives: may throw it at once, with a better text.
  Poll<Result<T>> poll_or_throw(Context& cx) { return self().poll_result(cx); }
  /// Throws the error. An operation may have a `throw_error` of its own for that.
  [[noreturn]] static void fail(const ResultBase& failed) {
    if constexpr (requires { Op::throw_error(failed.error()); }) Op::throw_error(failed.error());
    internal::throw_error_of(failed);
  }

  /// The operation as a future of a Result<T>. Before the first poll.
  [[nodiscard]] ResultOf<Op, T> result() && { return ResultOf<Op, T>(std::move(self())); }
  [[nodiscard]] ResultOf<Op, T> result() & { return ResultOf<Op, T>(std::move(self())); }

 private:
  friend Op;
  ResultFuture() noexcept = default;

  Op& self() noexcept { return static_cast<Op&>(*this); }
};

}  // namespace rouse
