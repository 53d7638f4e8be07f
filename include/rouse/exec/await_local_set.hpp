// run_until(set, future), run_all(set): a LocalSet inside a task, next to whatever else that
// awaits.
//
//   LocalSet set;
//   co_await run_until(set, session(...));    // in there, and in the set's tasks:
//                                             //   spawn_local(...)  goes to the set
//                                             //   spawn(...)        to the executor of this task
//   co_await run_all(set);                    // until its tasks have ended
//
// The set's tasks are polled inside the task that awaits it, one after the other: they need not be
// thread-safe among each other, and may wait for whatever that task may wait for, timers and
// sockets, too. On a runtime with many threads they move with that task to another thread; where
// they must not, await the set on a current_thread runtime, or use LocalSet::block_on. Tasks that
// are left continue with the next call. Each poll runs up to 61 of them, and then lets other tasks
// of the executor run.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/function_ref.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/exec/local_set.hpp"

namespace rouse {

/// What both futures share: for one task at a time.
class ROUSE_API LocalSet::Turn {
 public:
  explicit Turn(LocalSet& set) noexcept : set_(&set) {}
  Turn(Turn&& other) noexcept : set_(std::exchange(other.set_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn();

  /// Polls `first`, in whose calls spawn_local goes to the set. True: it returned true. Else some
  /// tasks of the set were polled.
  bool poll(Context& cx, internal::FunctionRef<bool()> first);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Turn, "LocalSet", notify, &Turn::set_)
  /// Whether the set had no task after the last poll.
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

 private:
  LocalSet* set_;
  bool is_done_ = false;
};

/// Completes when `future` does, with what it gives; meanwhile the tasks of the set run.
/// Cancel safety: dropping it drops the future midway; the tasks stay in the set.
/// Threads: one task at a time.
/// Errors: those of the future. What a task throws is for whoever joins it.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RunUntil {
 public:
  using Output = output_t<F>;

  RunUntil(LocalSet& set, F future) : turn_(set), future_(std::move(future)) {}

  /// For a dump: see base/shape.hpp. The set may have woken it as well.
  ROUSE_SHAPE(RunUntil, "run_until", any_of, &RunUntil::future_, &RunUntil::turn_)
  Poll<Output> poll(Context& cx) {
    std::optional<Poll<Output>> polled;
    turn_.poll(cx, [&] { return polled.emplace(future_.poll(cx)).is_ready(); });
    return *std::move(polled);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  LocalSet::Turn turn_;
  F future_;
};

/// Completes when the set has no task any more.
/// Cancel safety: dropping it loses nothing; the tasks stay in the set.
/// Threads: one task at a time.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RunAll {
 public:
  using Output = void;

  explicit RunAll(LocalSet& set) noexcept : turn_(set) {}

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(RunAll, nullptr, one, &RunAll::turn_)
  Poll<> poll(Context& cx) {
    if (turn_.poll(cx, [] { return false; }) || !turn_.is_done()) return pending;
    return Poll<>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  LocalSet::Turn turn_;
};

/// Runs `future` and the tasks of `set` in the task that awaits this. Borrows the set.
template <class F>
[[nodiscard]] auto run_until(LocalSet& set, F&& future) {
  using Kept = std::remove_cvref_t<F>;
  constexpr bool is_kept = Future<Kept> && std::constructible_from<Kept, F>;
  static_assert(
      is_kept,
      "run_until(set, future) keeps the future: call the function, run_until(set, f()), or "
      "move a future that can't be copied");
  if constexpr (is_kept) return RunUntil<Kept>(set, std::forward<F>(future));
}

/// Runs the tasks of `set` in the task that awaits this, until none is left. Borrows the set.
[[nodiscard]] inline RunAll run_all(LocalSet& set) noexcept { return RunAll(set); }

}  // namespace rouse
