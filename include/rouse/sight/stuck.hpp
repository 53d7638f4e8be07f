// sight::find_stuck: tasks that can't go on any more, for tests and for a watch of your own.
//
//   EXPECT_TRUE(sight::find_stuck().empty());
//
// Two kinds are found, and nothing that only may be stuck:
//  - tasks that wait for each other: by locks (Mutex, RwLock), joins and OnceCells, all of one
//    executor. That is true unless a guard, or a future that holds one, was passed to another task
//    than the one that acquired it.
//  - a task that nobody can wake: there is no waker of it left, because a future kept none.
// Either may still be aborted, also by an AbortableHandle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/task_id.hpp"

namespace rouse::sight {

/// What find_stuck found.
class ROUSE_API Stuck {
 public:
  /// Why it is stuck.
  enum class Kind : std::uint8_t {
    deadlock,   ///< these tasks wait for each other
    forgotten,  ///< nobody can wake these
  };
  Stuck(Kind what, std::vector<TaskId> which, std::string told) noexcept;
  Stuck(Stuck&&) noexcept;
  Stuck& operator=(Stuck&&) noexcept;
  ~Stuck();

  Kind kind;
  std::vector<TaskId> tasks;  ///< of many that nobody can wake and that are alike, four
  std::string text;           ///< as a dump tells it
};

/// Threads: as sight::dump.
[[nodiscard]] ROUSE_API std::vector<Stuck> find_stuck();

}  // namespace rouse::sight
