// The model checker: runs a small multi-threaded program in every way the C++ memory model allows.
//
//   rouse::model::check([] {
//     rouse::atomic<int> x{0};
//     rouse::Thread other([&] { x.store(1, rouse::memory_order_release); });
//     ...
//     other.join();
//   });
//
// The body runs again and again, each time with another interleaving or with other stores seen by
// its loads. Otherwise it must be deterministic. It must create everything that its threads share,
// and share only rouse::atomic, Mutex, CondVar, Cell and what those guard. A spin loop calls
// rouse::spin_hint() in each round.
//
// It finds data races on Cell, deadlocks and lost wakeups, livelocks, leaks, double frees, uses
// after free and after destruction, failed `ensure` and ROUSE_ASSERT, crashes, uncaught exceptions.
// Link the program with rouse::model instead of rouse::rouse.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::model {

/// How far a model is explored.
struct Options {
  static constexpr unsigned unbounded = UINT32_MAX;

  /// How often in one execution a thread that could continue is preempted. Most bugs need two. At
  /// most 14, or `unbounded`.
  unsigned preemption_bound = 3;
  /// How many loads of an execution may see a value that is not the newest (and how many stores may
  /// be ordered before one that was executed earlier). At most 14, or `unbounded`. For models that
  /// are too large otherwise: loops that load, fail to exchange and retry have many such
  /// executions.
  unsigned old_value_bound = unbounded;
  /// An execution that takes more steps is a livelock.
  std::uint32_t max_steps = 20'000;
  /// After this many executions the search stops, incomplete.
  std::uint64_t max_executions = 20'000'000;
  /// How many random executions to run instead of a search. 0: search.
  std::uint64_t random_runs = 0;
  std::uint64_t seed = 1;
  /// Runs this one execution: the string that a report gave.
  std::string replay = {};
  /// A memory order to leave out at one place, "FILE:LINE:COLUMN:release". If the model still
  /// passes, it has not shown that the order is needed. FILE may be the end of a path.
  std::string leave_out = {};
  /// Report::orders is filled.
  bool collect_orders = false;
  /// False: runs every single execution, for testing the checker itself.
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

/// Its name, for messages.
[[nodiscard]] ROUSE_API const char* to_string(Problem problem) noexcept;

/// A problem, and how it came about.
struct Finding {
  Problem problem;      ///< of which kind
  std::string message;  ///< what is wrong
  std::string trace;    ///< what happened, one line per step
  std::string replay;   ///< for Options::replay, or the environment's ROUSE_MODEL_REPLAY
};

/// The result of an exploration.
struct Report {
  std::optional<Finding> finding;   ///< nothing: no problem
  bool complete = false;            ///< everything within the bound was explored
  std::uint64_t executions = 0;     ///< that ran to completion
  std::uint64_t cut_short = 0;      ///< that reached a state that was already explored
  std::uint64_t steps = 0;          ///< of all executions
  double seconds = 0;               ///< that it took
  std::vector<std::string> orders;  ///< stronger than relaxed, as Options::leave_out names them

  /// For people: what was found, how, and the figures.
  [[nodiscard]] ROUSE_API std::string summary() const;
};

/// Explores the body and reports what it found; stops at the first problem. One at a time per
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

/// In a model: runs code that is not part of it, such as collecting results in a container that
/// outlives the execution. Its allocations are not counted.
ROUSE_API void outside(const std::function<void()>& call);

/// In a model: names an atomic, a Cell, a Mutex or a CondVar in traces.
ROUSE_API void name(const void* object, const char* text);

}  // namespace rouse::model
