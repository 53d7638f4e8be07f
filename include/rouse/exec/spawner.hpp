// Spawner: a cheap copyable handle that puts futures on an executor, from any thread; and
// `spawn`, which does so on the executor whose task is running.
//
//   spawn(fn, args...)     calls fn(args...) on the executor; function, captures and arguments
//                          belong to the task. The normal way.
//   spawn(future)          runs a future that is there already. A coroutine that borrows is
//                          refused, because nothing keeps alive what it borrows.
//   spawn(borrowed(f))     runs it all the same: the caller sees to the lifetime.
#pragma once

#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/owned_call.hpp"
#include "rouse/exec/stored_argument.hpp"
#include "rouse/exec/task.hpp"

namespace rouse {

/// Aborts with the coroutine's name if spawning it would let it outlive what it borrows.
ROUSE_API void refuse_borrower(const char* coroutine, std::source_location where) noexcept;

template <Future F>
void refuse_if_borrows(const F& future, std::source_location where) {
  if (!future_borrows(future)) [[likely]]
    return;
  if constexpr (is_async<F>) {
    refuse_borrower(future.name(), where);
  } else {
    refuse_borrower("a coroutine inside the future that is spawned", where);
  }
}

/// Puts a future, or a function that gives one, on `scheduler`. `Name` is as in Task.
template <class Name, class F, class... Args>
auto spawn_named_on(Scheduler& scheduler, std::source_location where, Name name, F&& work,
                    Args&&... args) {
  using Work = std::remove_cvref_t<F>;
  if constexpr (sizeof...(Args) == 0 && Future<Work>) {
    constexpr bool can_keep = std::constructible_from<Work, F>;
    static_assert(can_keep,
                  "spawn keeps the future, and this one can't be copied: write "
                  "spawn(std::move(future))");
    if constexpr (can_keep) {
      refuse_if_borrows(work, where);
      auto& task =
          Task<Work, Name>::make_named(std::move(name), scheduler, where, std::forward<F>(work));
      scheduler.submit(task);
      return JoinHandle<output_t<Work>>(task);
    }
  } else {
    using Stored = StoredCall<std::index_sequence_for<Args...>, std::decay_t<F>, Args...>;
    constexpr bool gives_future = Stored::template into<CallGivesFuture>::value;
    static_assert(gives_future,
                  "spawn needs a rouse::Future, or a function that returns one and can be called "
                  "with these arguments: write spawn(fn, args...) for `rouse::Async<T> fn(...)`, "
                  "and std::ref(x) for a parameter `T&`");
    if constexpr (gives_future) {
      using Call = typename Stored::template into<OwnedCall>;
      auto& task = Task<Call, Name>::make_named(std::move(name), scheduler, where,
                                                std::forward<F>(work), std::forward<Args>(args)...);
      scheduler.submit(task);
      return JoinHandle<output_t<Call>>(task);
    }
  }
}

/// The same for a task without a name.
template <class F, class... Args>
auto spawn_on(Scheduler& scheduler, std::source_location where, F&& work, Args&&... args) {
  return spawn_named_on(scheduler, where, NoName(), std::forward<F>(work),
                        std::forward<Args>(args)...);
}

/// `spawn` as a member, for whatever has a `scheduler()`.
template <class Executor>
class SpawnMembers {
 public:
  template <class F>
  auto spawn(F&& work, std::source_location where = std::source_location::current()) const {
    return spawn_on(scheduler(), where, std::forward<F>(work));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn(Fn&& fn, Arg&& arg, Args&&... args) const {
    return spawn_on(scheduler(), {}, std::forward<Fn>(fn), std::forward<Arg>(arg),
                    std::forward<Args>(args)...);
  }

 protected:
  SpawnMembers() = default;
  ~SpawnMembers() = default;

 private:
  Scheduler& scheduler() const { return static_cast<const Executor&>(*this).scheduler(); }
};

/// Any thread. A task given to an executor that is gone is cancelled at once.
class ROUSE_API Spawner : public SpawnMembers<Spawner> {
 public:
  explicit Spawner(RefPtr<Scheduler> scheduler) noexcept : scheduler_(std::move(scheduler)) {}

  /// Of the executor whose task is running; aborts with a hint if none is.
  static Spawner current();

  /// Where it puts tasks: for other ways to spawn.
  Scheduler& scheduler() const noexcept {
    ROUSE_ASSERT(scheduler_, "spawn with a Spawner that was moved from");
    return *scheduler_;
  }

 private:
  RefPtr<Scheduler> scheduler_;
};

/// The scheduler of the running task; aborts with a hint if there is none.
ROUSE_API Scheduler& current_scheduler() noexcept;

/// Spawns on the executor whose task is running. See the top of this file.
template <class F>
auto spawn(F&& work, std::source_location where = std::source_location::current()) {
  return spawn_on(current_scheduler(), where, std::forward<F>(work));
}
template <class Fn, class Arg, class... Args>
  requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
auto spawn(Fn&& fn, Arg&& arg, Args&&... args) {
  return spawn_on(current_scheduler(), {}, std::forward<Fn>(fn), std::forward<Arg>(arg),
                  std::forward<Args>(args)...);
}

}  // namespace rouse
