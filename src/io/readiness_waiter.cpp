#include "rouse/io/internal/readiness_waiter.hpp"

#include "rouse/base/assert.hpp"

#include "io/io_source.hpp"

namespace rouse::internal {

ReadinessWaiter::ReadinessWaiter(ReadinessWaiter&& other) noexcept {
  ROUSE_ASSERT(other.source_ == nullptr,
               "a future of a socket or AsyncFd was moved after its first poll: move it before, or "
               "keep it in a rouse::AnyFuture, which may be moved at any time");
}

bool ReadinessWaiter::poll(IoSource& source, io::Interest interest, Context& cx, io::Ready& ready) {
  return source.poll_ready(*this, interest, cx, ready);
}

void ReadinessWaiter::leave() noexcept { source_->leave(*this); }

}  // namespace rouse::internal
