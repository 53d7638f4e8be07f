// pending_forever<T>(): a future that is never ready and keeps no waker. It ends by being dropped:
// a branch of select or race that is switched off.
#pragma once

#include "rouse/core/future.hpp"

namespace rouse {

template <class T = void>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] PendingForever {
 public:
  using Output = T;

  PendingForever() noexcept {}

  Poll<T> poll(Context&) noexcept { return pending; }
};

template <class T = void>
PendingForever<T> pending_forever() {
  return PendingForever<T>();
}

}  // namespace rouse
