// Held<R>: what an adapter reads or writes: it owns R, or borrows it (`R` is a reference). A
// pointer to a member can't name a reference, but this.
#pragma once

#include <utility>

#include "rouse/base/shape.hpp"

namespace rouse::internal {

template <class R>
struct Held {
  explicit Held(R&& held) : it(std::forward<R>(held)) {}
  R it;
};

/// Nothing else is in it; and a reference lies in memory as a pointer does.
template <class R>
inline constexpr sight::Shape shape_of<Held<R>> = shape_of<R>;
template <class R>
inline constexpr sight::Shape shape_of<Held<R&>> = shape_of<R*>;

}  // namespace rouse::internal
