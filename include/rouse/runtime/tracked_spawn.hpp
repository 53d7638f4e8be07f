// TaskTracker::spawn and its like, which need executors: sync, where the tracker is, knows none.
//
//   sync::TaskTracker tracker;
//   tracker.spawn(serve, std::move(peer)).detach();   // tracked until the task's future is
//   destroyed
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/invoke.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/internal/stored_argument.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/sync/task_tracker.hpp"

namespace rouse::internal {

/// A function that a task owns, and with it a token.
template <class Fn>
class TrackedFn {
 public:
  template <class F>
  TrackedFn(sync::TaskTracker::Token token, F&& fn)
      : token_(std::move(token)), fn_(std::forward<F>(fn)) {}

  template <class... Args>
    requires std::invocable<Fn&, Args...>
  decltype(auto) operator()(Args&&... args) {
    return internal::invoke(fn_, std::forward<Args>(args)...);
  }

 private:
  sync::TaskTracker::Token token_;  // goes after the function
  Fn fn_;
};

template <class Fn>
struct ParametersOf<TrackedFn<Fn>> : ParametersOf<Fn> {};

template <class F, class... Args>
[[gnu::always_inline]] inline auto spawn_tracked(const sync::TaskTracker& tracker,
                                                 Scheduler& scheduler, F&& work, Args&&... args) {
  if constexpr (Future<std::remove_cvref_t<F>>) {
    return spawn_as_written(scheduler, NoName(), tracker.track_future(std::forward<F>(work)),
                            std::forward<Args>(args)...);
  } else {
    using Tracked = TrackedFn<std::decay_t<F>>;
    return spawn_as_written(scheduler, NoName(), Tracked(tracker.token(), std::forward<F>(work)),
                            std::forward<Args>(args)...);
  }
}

}  // namespace rouse::internal

namespace rouse::sync {

template <class F, class Arg, class... Args>
[[gnu::always_inline]] inline auto TaskTracker::spawn(F&& work, Arg&& arg, Args&&... args) const {
  return internal::spawn_tracked(*this, internal::current_scheduler(), std::forward<F>(work),
                                 std::forward<Arg>(arg), std::forward<Args>(args)...);
}

template <class F, class Arg, class... Args>
[[gnu::always_inline]] inline auto TaskTracker::spawn_on(const Spawner& spawner, F&& work,
                                                         Arg&& arg, Args&&... args) const {
  return internal::spawn_tracked(*this, spawner.scheduler(), std::forward<F>(work),
                                 std::forward<Arg>(arg), std::forward<Args>(args)...);
}

template <class F, class Arg, class... Args>
[[gnu::always_inline]] inline auto TaskTracker::spawn_local(F&& work, Arg&& arg,
                                                            Args&&... args) const {
  return internal::spawn_tracked(*this, internal::current_local_scheduler(), std::forward<F>(work),
                                 std::forward<Arg>(arg), std::forward<Args>(args)...);
}

}  // namespace rouse::sync
