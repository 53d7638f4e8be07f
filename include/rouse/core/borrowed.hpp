// borrowed(f): a future that borrows, spawned all the same.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/shape.hpp"

namespace rouse {

/// Says explicitly that a borrowing future will not outlive what it borrows: `spawn(borrowed(f))`.
template <class F>
class Borrowed {
 public:
  using Output = typename F::Output;
  explicit Borrowed(F future) : future_(std::move(future)) {}
  auto poll(auto& cx) { return future_.poll(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Borrowed, nullptr, one, &Borrowed::future_)

 private:
  F future_;
};

template <class F>
Borrowed<std::remove_cvref_t<F>> borrowed(F&& future) {
  return Borrowed<std::remove_cvref_t<F>>(std::forward<F>(future));
}

}  // namespace rouse
