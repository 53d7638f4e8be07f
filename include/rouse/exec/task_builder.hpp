// task::Builder: spawns a task that has a name. Code inside sees it with task::name(), and the
// report of an exception that nobody joined shows it.
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

  Builder& name(std::string name) noexcept {
    name_ = std::move(name);
    return *this;
  }

  /// On the executor whose task is running. A function with arguments or a future: see
  /// exec/spawner.hpp.
  template <class F>
  auto spawn(F&& work, std::source_location where = std::source_location::current()) const {
    return spawn_named_on(current_scheduler(), where, name_, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn(Fn&& fn, Arg&& arg, Args&&... args) const {
    return spawn_named_on(current_scheduler(), {}, name_, std::forward<Fn>(fn),
                          std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// On the executor of a Spawner. Any thread.
  template <class F>
  auto spawn_on(const Spawner& spawner, F&& work,
                std::source_location where = std::source_location::current()) const {
    return spawn_named_on(spawner.scheduler(), where, name_, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn_on(const Spawner& spawner, Fn&& fn, Arg&& arg, Args&&... args) const {
    return spawn_named_on(spawner.scheduler(), {}, name_, std::forward<Fn>(fn),
                          std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// On the LocalExecutor or LocalSet that this thread is running: see exec/spawn_local.hpp.
  template <class F>
  auto spawn_local(F&& work, std::source_location where = std::source_location::current()) const {
    return spawn_named_on(current_local_scheduler(), where, name_, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn_local(Fn&& fn, Arg&& arg, Args&&... args) const {
    return spawn_named_on(current_local_scheduler(), {}, name_, std::forward<Fn>(fn),
                          std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// On the blocking pool of the runtime whose task is running: see exec/blocking_pool.hpp.
  template <class Fn, class... Args>
  auto spawn_blocking(Fn&& fn, Args&&... args) const {
    return spawn_blocking_named_on(current_blocking_pool().scheduler(), {}, name_,
                                   std::forward<Fn>(fn), std::forward<Args>(args)...);
  }

 private:
  std::string name_;
};

}  // namespace rouse::task
