// spawn_local: spawns on the LocalExecutor or LocalSet that this thread is running, where `spawn`
// may go to a runtime with many threads. The task never leaves this thread, so it may use what is
// not thread-safe. It takes a function with arguments or a future: see exec/spawner.hpp.
// Aborts with a hint where this thread runs neither.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/exec/spawner.hpp"

namespace rouse {

/// The scheduler of the LocalExecutor or LocalSet that this thread is running; aborts with a hint
/// if there is none.
ROUSE_API Scheduler& current_local_scheduler() noexcept;

template <class F>
auto spawn_local(F&& work, std::source_location where = std::source_location::current()) {
  return spawn_on(current_local_scheduler(), where, std::forward<F>(work));
}
template <class Fn, class Arg, class... Args>
  requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
auto spawn_local(Fn&& fn, Arg&& arg, Args&&... args) {
  return spawn_on(current_local_scheduler(), {}, std::forward<Fn>(fn), std::forward<Arg>(arg),
                  std::forward<Args>(args)...);
}

}  // namespace rouse
