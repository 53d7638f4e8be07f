// The model checker: runs a small multi-threaded program in every way the C++ memory model allows.
//
//   rouse::model::check([] {
//     rouse::atomic<int> x{0};
//     rouse::Thread other([&] { x.store(1, rouse::memory_order_release); });
//     ...
//     other.join();
//   });
//
// The body is run again and again, each time with another interleaving or with other stores seen by
// its loads. It must be deterministic but for that, make anew all that its threads share, and share
// only rouse::atomic, Mutex, CondVar, Cell and what those guard. A spin loop calls
// rouse::spin_hint() in each round.
//
// Found are: data races on Cell, deadlocks and lost wakeups, livelocks, leaks, double frees, uses
// after free and after destruction, failed `ensure` and ROUSE_ASSERT, crashes, exceptions that
// nobody catches. Needs a program that is linked with rouse::model instead of rouse::rouse.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "rouse/base/attributes.hpp"

namespace rouse::model {

struct Options {
  static constexpr unsigned unbounded = UINT32_MAX;

  /// How often a thread that could go on is interrupted by another, in one execution. Most bugs
  /// need two. At most 14, or `unbounded`.
  unsigned preemption_bound = 3;
  /// How many loads of an execution may see a value that is not the newest (and stores be ordered
  /// before one that was executed earlier). At most 14, or `unbounded`. For models that are too
  /// large otherwise: loops that load, fail to exchange, and try again have many such executions.
  unsigned old_value_bound = unbounded;
  /// An execution that takes more steps is a livelock.
  std::uint32_t max_steps = 20'000;
  /// After so many executions the search ends, incomplete.
  std::uint64_t max_executions = 20'000'000;
  /// How many random executions to run instead of a search. 0: search.
  std::uint64_t random_runs = 0;
  std::uint64_t seed = 1;
  /// Runs this one execution: the string that a report gave.
  std::string replay = {};
  /// An order that operations at one place do without, "FILE:LINE:COLUMN:release": a model that
  /// does not fail then has not shown that it is needed. FILE may be the end of a path.
  std::string leave_out = {};
  /// Report::orders is filled.
  bool collect_orders = false;
  /// False: every single execution, for testing the checker itself.
  bool prune = true;
};

enum class Problem : std::uint8_t {
  data_race,
  deadlock,  // or a lost wakeup: all threads are blocked
  livelock,
  leak,
  use_after_free,  // or after destruction
  bad_free,        // a second time, or of what was never allocated
  exception,
  crash,  // a segmentation fault, an overflowing stack, abort
  failed_ensure,
  failed_assert,
  misuse,
  not_deterministic,
};

[[nodiscard]] ROUSE_API const char* to_string(Problem problem) noexcept;

struct Finding {
  Problem problem;
  std::string message;
  std::string trace;   ///< what happened, a line a step
  std::string replay;  ///< for Options::replay, or the environment's ROUSE_MODEL_REPLAY
};

struct Report {
  std::optional<Finding> finding;
  bool complete = false;         ///< everything within the bound was explored
  std::uint64_t executions = 0;  ///< that were run to their end
  std::uint64_t cut_short = 0;   ///< that came to a state that had been explored
  std::uint64_t steps = 0;
  double seconds = 0;
  std::vector<std::string> orders;  ///< stronger than relaxed, as Options::leave_out names them

  [[nodiscard]] ROUSE_API std::string summary() const;
};

/// Explores the body and says what was found; ends at the first problem. One at a time in a
/// process.
ROUSE_API Report explore(const std::function<void()>& body, const Options& options = {});

/// Explores the body; prints what was found and aborts, also if not everything could be explored.
/// The environment takes precedence over the options: ROUSE_MODEL_REPLAY=string,
/// ROUSE_MODEL_RANDOM=runs, ROUSE_MODEL_SEED=number, ROUSE_MODEL_BOUND=preemptions,
/// ROUSE_MODEL_LEAVE_OUT=order; ROUSE_MODEL_ORDERS=1 prints the orders, ROUSE_MODEL_STATS=1 how
/// much was explored.
ROUSE_API void check(const std::function<void()>& body, const Options& options = {});

/// In a model: this must hold here, in every execution.
ROUSE_API void ensure(bool condition, const char* message = "",
                      std::source_location where = std::source_location::current()) noexcept;

/// In a model: runs what is not part of it, such as collecting results in a container that outlives
/// the execution. What it allocates is not counted.
ROUSE_API void outside(const std::function<void()>& call);

/// In a model: what an atomic, a Cell, a Mutex or a CondVar is called in traces.
ROUSE_API void name(const void* object, const char* text);

}  // namespace rouse::model
