// Findings: what of a snapshot can't go on any more, for find_stuck and for the watch.
#pragma once

#include <cstdint>
#include <span>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/exec/task_id.hpp"
#include "rouse/sight/stuck.hpp"

#include "sight/out.hpp"
#include "sight/snapshot.hpp"

namespace rouse::sight {

/// A deadlock, or tasks that nobody can wake.
class Finding {
 public:
  Finding(const Snapshot& snapshot, const Deadlock& deadlock, std::uint64_t number) noexcept
      : snapshot_(&snapshot), deadlock_(&deadlock), number_(number) {}
  Finding(const Snapshot& snapshot, const Group& group) noexcept
      : snapshot_(&snapshot), group_(&group) {}

  /// The lowest id of its tasks: the same as long as they are there.
  [[nodiscard]] TaskId lowest_id() const noexcept;
  void write(Out& out) const;
  [[nodiscard]] Stuck told() const;

 private:
  const Snapshot* snapshot_;
  const Deadlock* deadlock_ = nullptr;  // one of the two
  const Group* group_ = nullptr;
  std::uint64_t number_ = 0;
};

void for_each_finding(const Snapshot& snapshot,
                      rouse::internal::FunctionRef<void(const Finding&)> fn);

}  // namespace rouse::sight
