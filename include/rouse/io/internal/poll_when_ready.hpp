// poll_when_ready: the loop of all that is done with a descriptor: wait until it counts as ready,
// try, and if the try says that it would block, clear what was seen and wait again. What the kernel
// tells between the look and the clear is a new tick (Ready), which the clear leaves alone: so the
// try must come between the two.
#pragma once

#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::internal {

/// `wait()` gives what was seen, Poll<Result<Ready>>, or has this task woken. `attempt(seen)`,
/// which is told the error, too, gives a Poll<Result<T>>, and says that it would block only if
/// something was seen; then `clear(*seen)`.
template <class Wait, class Try, class Clear>
auto poll_when_ready(Wait wait, Try attempt, Clear clear)
    -> decltype(attempt(std::declval<const Result<io::Ready>&>())) {
  for (;;) {
    const Poll<Result<io::Ready>> polled = wait();
    if (polled.is_pending()) return pending;
    const Result<io::Ready>& seen = polled.value();
    auto tried = attempt(seen);
    if (tried.is_pending() || tried.value() || !io::would_block(tried.value().error()))
      return tried;
    clear(*seen);
  }
}

/// The same with an AsyncFd; one task for each direction at a time.
template <class Fd, class Try>
auto poll_when_ready(const Fd& fd, Context& cx, io::Interest direction, Try attempt) {
  return poll_when_ready([&] { return fd.poll_ready(cx, direction); }, std::move(attempt),
                         [&](io::Ready seen) { fd.clear_blocked(seen, direction); });
}

}  // namespace rouse::internal
