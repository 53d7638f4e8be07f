// yield_now(): wakes itself and is pending once, so that other ready tasks get their turn first.
// Cancel safety: dropping it loses nothing.
#pragma once

#include <cstdint>

#include "rouse/core/future.hpp"

namespace rouse {

class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] YieldNow {
 public:
  using Output = void;

  YieldNow() noexcept {}

  Poll<void> poll(Context& cx) {
    ROUSE_ASSERT(state_ != State::done, "yield_now() was polled again after it was ready");
    if (state_ == State::yielded) {
      state_ = State::done;
      return Poll<void>::ready();
    }
    state_ = State::yielded;
    cx.waker().wake_by_ref();
    return pending;
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(YieldNow, "yield_now", turn)

 private:
  enum class State : std::uint8_t { fresh, yielded, done };
  State state_ = State::fresh;
};

inline YieldNow yield_now() { return YieldNow(); }

}  // namespace rouse
