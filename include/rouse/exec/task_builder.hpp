// task::Builder: spawns a named task. Code inside sees the name with task::name(), and so does the
// report of an exception that nobody joined.
//
//   auto task = task::Builder().name("resolver").spawn(resolve, host);
//
// The name belongs to the task. One builder may spawn any number of tasks.
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"

namespace rouse::task {

class Builder {
 public:
  Builder() noexcept {}

  /// The name for task::name() inside the task, and for the report of an exception that nobody
  /// joins.
  Builder& name(std::string name) noexcept {
    name_ = std::move(name);
    return *this;
  }

  /// On the executor whose task is running. A function with arguments or a future: see
  /// exec/spawner.hpp.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn(F&& work, Arg&& arg = std::source_location::current(),
                                    Args&&... args) const {
    return internal::spawn_as_written(internal::current_scheduler(), name_, std::forward<F>(work),
                                      std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// On the executor of a Spawner.
  /// Threads: any.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn_on(const Spawner& spawner, F&& work,
                                       Arg&& arg = std::source_location::current(),
                                       Args&&... args) const {
    return internal::spawn_as_written(spawner.scheduler(), name_, std::forward<F>(work),
                                      std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// On the LocalExecutor or LocalSet that this thread is running: see exec/spawn_local.hpp.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn_local(F&& work, Arg&& arg = std::source_location::current(),
                                          Args&&... args) const {
    return internal::spawn_as_written(internal::current_local_scheduler(), name_,
                                      std::forward<F>(work), std::forward<Arg>(arg),
                                      std::forward<Args>(args)...);
  }

  /// On the blocking pool of the runtime whose task is running: see
  /// exec/blocking_pool.hpp.
  template <class Fn, class... Args>
  auto spawn_blocking(Fn&& fn, Args&&... args) const {
    return internal::spawn_blocking_named_on(internal::current_blocking_pool().scheduler(), {},
                                             name_, std::forward<Fn>(fn),
                                             std::forward<Args>(args)...);
  }

 private:
  std::string name_;
};

}  // namespace rouse::task
