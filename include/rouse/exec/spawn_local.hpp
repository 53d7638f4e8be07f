// spawn_local: spawns on the LocalExecutor or LocalSet that this thread is running, whereas `spawn`
// may use a runtime with many threads. The task never leaves this thread, so it may use what is not
// thread-safe. It takes a function with arguments or a future: see exec/spawner.hpp. Aborts with a
// message if this thread runs neither.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/spawner.hpp"

namespace rouse {

namespace internal {

/// The scheduler of the LocalExecutor or LocalSet that this thread is running; aborts with a
/// message if there is none.
ROUSE_API internal::Scheduler& current_local_scheduler() noexcept;

}  // namespace internal

template <class F, class Arg = std::source_location, class... Args>
[[gnu::always_inline]] inline auto spawn_local(F&& work,
                                               Arg&& arg = std::source_location::current(),
                                               Args&&... args) {
  return internal::spawn_as_written(internal::current_local_scheduler(), internal::NoName(),
                                    std::forward<F>(work), std::forward<Arg>(arg),
                                    std::forward<Args>(args)...);
}

}  // namespace rouse
