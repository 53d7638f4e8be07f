// Context: what a future's poll receives. It borrows the waker of whoever polls.
#pragma once

#include "rouse/core/waker.hpp"

namespace rouse {

class Context {
 public:
  explicit constexpr Context(const Waker& waker) noexcept : waker_(&waker) {}
  /// A temporary waker would be gone before the first poll: keep it in a variable.
  explicit Context(const Waker&&) = delete;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The waker to keep (by copy) when returning pending. It may differ from poll to poll.
  [[nodiscard]] constexpr const Waker& waker() const noexcept { return *waker_; }

 private:
  const Waker* waker_;
};

/// Stores the context's waker in `slot` unless the one there would wake the same task.
inline void keep_waker(Waker& slot, const Context& cx) {
  if (!slot.will_wake(cx.waker())) slot = cx.waker();
}

}  // namespace rouse
