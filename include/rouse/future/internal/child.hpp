// Child<F>: a future that a combinator owns, and its outcome.
//
// The future is destroyed the moment it is ready (or throws), so that what it holds is released
// then and not when the combinator ends. The outcome stays until it is taken.
// Where outputs are put into a tuple, variant or vector, `stored_t` is their type: Unit for void, a
// pointer for a reference.
#pragma once

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/outcome.hpp"

namespace rouse::internal {

/// What is given as `F&&` can be kept by value: it is moved in, or it can be copied.
template <class F>
concept Keepable = std::constructible_from<std::remove_cvref_t<F>, F>;

/// Polls `child` once. True: it is ready or threw; it is destroyed and `outcome` says which.
template <Future F>
bool finish_into(Outcome<output_t<F>>& outcome, Maybe<F>& child, Context& cx) {
  if (!poll_into(outcome, *child, cx)) return false;
  child.reset();
  return true;
}

template <Future F>
class Child {
 public:
  using Stored = stored_t<output_t<F>>;

  explicit Child(F&& future) : future_(std::in_place, std::move(future)) {}

  /// True once the child is done. To be called again as often as one likes.
  bool poll(Context& cx) { return is_done() || finish_into(outcome_, future_, cx); }

  bool is_done() const noexcept { return !future_.has_value(); }
  bool borrows() const noexcept { return future_ && future_borrows(*future_); }
  bool has_failed() const noexcept { return outcome_.is_error(); }
  const std::exception_ptr& error() const noexcept { return outcome_.error(); }

  /// The output; the child must be done and not have failed.
  Stored& output() noexcept { return outcome_.stored(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Child, nullptr, one, &Child::future_)

 private:
  Maybe<F> future_;
  Outcome<output_t<F>> outcome_;
};

}  // namespace rouse::internal
