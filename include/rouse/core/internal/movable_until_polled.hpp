// MovableUntilPolled: a member that lets a combinator be moved before its first poll, and aborts
// the program with a message if it is moved later, when its children may be referred to. A class
// that has one gets the right move constructor by default, and is not copied.
#pragma once

#include "rouse/base/assert.hpp"

namespace rouse::internal {

class MovableUntilPolled {
 public:
  constexpr MovableUntilPolled() noexcept = default;
  constexpr MovableUntilPolled(MovableUntilPolled&& other) noexcept {
    ROUSE_ASSERT(!other.polled_,
                 "a future was moved after its first poll: move it before, or keep it in a "
                 "rouse::AnyFuture, which may be moved at any time");
  }

  constexpr void set_polled() noexcept { polled_ = true; }

 private:
  bool polled_ = false;
};

}  // namespace rouse::internal
