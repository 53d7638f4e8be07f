// pending_forever<T>(): a future that is never ready and stores no waker. Only dropping ends it: a
// disabled branch of select or race.
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
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(PendingForever, "pending_forever", never)
};

template <class T = void>
PendingForever<T> pending_forever() {
  return PendingForever<T>();
}

}  // namespace rouse
