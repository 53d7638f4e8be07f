// drop_at_each_poll: destroys a future after its k-th poll, for every k. For tests of cancellation:
// whatever the future holds at each of its await points must be released.
//
//   const DropReport report = drop_at_each_poll(
//       [&] { return semaphore.acquire(1); },
//       [&](std::size_t k) { if (k == 1) semaphore.release(1); },   // lets it progress
//       [&](std::size_t) { assert(semaphore.available() == 1); });  // after each drop
#pragma once

#include <cstddef>

#include "rouse/base/assert.hpp"
#include "rouse/core/future.hpp"
#include "rouse/testing/counting_waker.hpp"

namespace rouse::testing {

/// The result of drop_at_each_poll.
struct DropReport {
  DropReport() noexcept = default;
  std::size_t polls = 0;        ///< polls until the future completed
  std::size_t wakers_left = 0;  ///< most wakers still alive after a drop: 0 unless they leak
  bool threw = false;           ///< it completed by throwing
};

/// For k = 0, 1, 2, ...: creates a future with `make()`, polls it k times, destroys it and calls
/// `after(k)`. After its i-th poll `step(i)` is called, to let it progress. Ends with the round in
/// which the future completes. Throws what `make`, `step` and `after` throw; a poll that throws
/// completes the future.
template <class Make, class Step, class After>
DropReport drop_at_each_poll(Make&& make, Step&& step, After&& after) {
  constexpr std::size_t limit = 10'000;
  DropReport report;
  for (std::size_t k = 0;; ++k) {
    ROUSE_ASSERT(k <= limit,
                 "drop_at_each_poll: 10000 polls and not ready: let `step` progress it");
    CountingWaker waker;
    bool completed = false;
    {
      auto future = make();
      for (std::size_t i = 1; i <= k && !completed; ++i) {
        if (i > 1) step(i - 1);
        Context cx(waker.waker());
        try {
          completed = future.poll(cx).is_ready();
        } catch (...) {
          completed = report.threw = true;
        }
      }
    }
    if (waker.clones() > report.wakers_left) report.wakers_left = waker.clones();
    after(k);
    if (completed) {
      report.polls = k;
      return report;
    }
  }
}

template <class Make, class Step>
DropReport drop_at_each_poll(Make&& make, Step&& step) {
  return drop_at_each_poll(make, step, [](std::size_t) {});
}

}  // namespace rouse::testing
