// SideWakers: the tasks that wait for one direction of a stream. A stream keeps one waker a
// direction, that of the last poll; but both the task that receives and the one that sends may wait
// for the same direction: the former writes pongs, the latter reads when it closes. So a stream is
// polled with a waker of ours, which wakes both.
#pragma once

#include <array>
#include <cstdint>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/context.hpp"

namespace rouse::http::ws {

/// Whose call it is: `recv` is the receiver's, `send` and `close` are the sender's.
enum class Side : std::uint8_t { receiver, sender };
[[nodiscard]] constexpr Side other(Side side) noexcept {
  return side == Side::receiver ? Side::sender : Side::receiver;
}

class SideWakers : public RefCounted<SideWakers> {
 public:
  /// Wakes both.
  void wake() {
    for (AtomicWaker& waker : wakers_) waker.wake();
  }
  void wake(Side side) { wakers_[static_cast<std::size_t>(side)].wake(); }
  void keep(Side side, const Context& cx) {
    wakers_[static_cast<std::size_t>(side)].register_waker(cx.waker());
  }

 private:
  std::array<AtomicWaker, 2> wakers_;
};

/// One direction of a stream.
class Direction {
 public:
  Direction() : wakers_(make_ref<SideWakers>()), waker_(make_waker(wakers_)) {}

  /// What `poll` gives in a context that wakes both sides; `side` is woken from now on.
  template <class Fn>
  auto poll(Side side, Context& cx, Fn&& poll) {
    wakers_->keep(side, cx);
    Context both(waker_, cx);
    return poll(both);
  }
  void wake(Side side) { wakers_->wake(side); }

 private:
  RefPtr<SideWakers> wakers_;
  Waker waker_;
};

}  // namespace rouse::http::ws
