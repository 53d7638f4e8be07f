// Snapshot: what was seen of all tasks of the process, tasks with equal chains as one group. Made
// without polling anything and without malloc; the formats are written from it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "rouse/base/shape.hpp"
#include "rouse/exec/task_id.hpp"

#include "exec/task/examinable.hpp"
#include "sight/arena.hpp"
#include "sight/deadlocks.hpp"
#include "sight/told_code.hpp"

namespace rouse::sight {

/// A step of what ShapeWalk visits (src/core/shape_walk.hpp), in its order.
struct Step {
  enum class Kind : std::uint8_t {
    begin_waiting,
    end_waiting,
    leaf,
    begin_node,
    end_node,
    frame,
    left_out,  // frames
  };
  Kind kind;
  const Shape* shape;          // of a leaf or node
  std::source_location where;  // of a frame
  std::uint64_t value;         // what a leaf waits for; how many are left out
  const char* detail;          // of a descriptor: what it is; of others: their name
  std::uint32_t holder;        // of a lock: the tag of the task that acquired it; 0: nobody knows
};

/// What the thread of a task that runs said (exec/task/sample.hpp).
struct Running {
  Activity activity;
  std::span<const std::uintptr_t> stack;
};

struct Group {
  static constexpr std::size_t most_ids = 4;

  rouse::internal::SeenTask::State state;
  bool is_forgotten;  // nobody can wake it
  std::uint64_t hash;
  std::uint64_t count;
  std::array<TaskId, most_ids> ids;  // the lowest of them first, then others
  std::int64_t wakers;               // of the first that was seen; -1: nobody knows
  const char* name;
  rouse::internal::SpawnPlace spawned_at;
  std::span<const Step> steps;
  const Running* running;  // of the first that was seen; null: nobody knows
  Group* next;
};

struct Executor {
  rouse::internal::Examinable::Kind kind;
  const char* why_not;  // its tasks could not be seen
  std::uint64_t tasks;
  Group* first;  // in the order in which they were seen
  Group* last;
  Executor* next;
};

class Snapshot {
 public:
  /// Whether threads that are in a long poll are asked, by a signal, what they do.
  enum class Asks : bool { no, yes };
  explicit Snapshot(std::chrono::nanoseconds patience, Asks asks = Asks::yes) noexcept;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  [[nodiscard]] const Executor* first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }
  [[nodiscard]] const Deadlock* deadlocks() const noexcept { return deadlocks_; }
  /// Tasks that could not be told for lack of memory.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// When it was taken.
  [[nodiscard]] std::uint64_t at_ns() const noexcept { return at_ns_; }
  /// For who writes it out.
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

 private:
  class Collector;

  Arena arena_;
  const Executor* first_ = nullptr;
  const Deadlock* deadlocks_ = nullptr;
  std::uint64_t tasks_ = 0;
  std::uint64_t forgotten_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t at_ns_;
};

}  // namespace rouse::sight
