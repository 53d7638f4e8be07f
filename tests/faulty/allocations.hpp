// Allocations that fail on command: the k-th operator new from now on, of whatever thread. (What
// the thread sanitizer has of its own can't be replaced: there nothing ever fails.)
#pragma once

#include "support/sanitizer.hpp"

namespace rouse::faulty {

inline constexpr bool can_fail_allocations = !test::thread_sanitizer;

class FailingAllocation {
 public:
  /// Lets `skip` of them pass, then one fails.
  explicit FailingAllocation(long skip) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  [[nodiscard]] bool has_failed() const noexcept;
};

}  // namespace rouse::faulty
