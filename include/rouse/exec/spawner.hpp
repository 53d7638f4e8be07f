// Spawner: a cheap copyable handle that puts futures on an executor, from any thread; and
// `spawn`, which does so on the executor whose task is running.
//
//   spawn(fn, args...)     calls fn(args...) on the executor; function, captures and arguments
//                          belong to the task. The normal way.
//   spawn(future)          runs a future that is there already. A coroutine that borrows is
//                          refused, because nothing keeps alive what it borrows.
//   spawn(borrowed(f))     runs it all the same: the caller sees to the lifetime.
//
// Whatever spawns takes both forms with one signature: `work`, then its arguments. Where there are
// none, the default argument says where the spawn is written.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/exec/internal/owned_call.hpp"
#include "rouse/exec/internal/stored_argument.hpp"
#include "rouse/exec/internal/task.hpp"
#include "rouse/exec/join_handle.hpp"

namespace rouse {

namespace internal {

/// Aborts, naming the coroutine, if spawning it would let it outlive what it borrows.
ROUSE_API void refuse_borrower(const char* coroutine, std::source_location where) noexcept;

/// Aborts if the future borrows what a task can't keep alive.
template <Future F>
void refuse_if_borrows(const F& future, std::source_location where) {
  if (!internal::future_borrows(future)) [[likely]]
    return;
  if constexpr (is_async<F>) {
    refuse_borrower(future.name(), where);
  } else {
    refuse_borrower("a coroutine inside the future that is spawned", where);
  }
}

/// Puts a future, or a function that gives one, on `scheduler`. `Name` is as in Task.
template <class Name, class F, class... Args>
auto spawn_named_on(internal::Scheduler& scheduler, SpawnPlace where, Name name, F&& work,
                    Args&&... args) {
  using Work = std::remove_cvref_t<F>;
  if constexpr (sizeof...(Args) == 0 && Future<Work>) {
    constexpr bool can_keep = std::constructible_from<Work, F>;
    static_assert(can_keep,
                  "spawn keeps the future, and this one can't be copied: write "
                  "spawn(std::move(future))");
    if constexpr (can_keep) {
      refuse_if_borrows(work, where.source());
      auto& task = internal::Task<Work, Name>::make_named(std::move(name), scheduler, where,
                                                          std::forward<F>(work));
      scheduler.submit(task);
      return JoinHandle<output_t<Work>>(task);
    }
  } else {
    using Stored = internal::StoredCall<std::index_sequence_for<Args...>, std::decay_t<F>, Args...>;
    constexpr bool gives_future = Stored::template into<internal::CallGivesFuture>::value;
    static_assert(gives_future,
                  "spawn needs a rouse::Future, or a function that returns one and can be called "
                  "with these arguments: write spawn(fn, args...) for `rouse::Async<T> fn(...)`, "
                  "and std::ref(x) for a parameter `T&`");
    if constexpr (gives_future) {
      using Call = typename Stored::template into<internal::OwnedCall>;
      auto& task = internal::Task<Call, Name>::make_named(
          std::move(name), scheduler, where, std::forward<F>(work), std::forward<Args>(args)...);
      scheduler.submit(task);
      return JoinHandle<output_t<Call>>(task);
    }
  }
}

/// The same for a task without a name.
template <class F, class... Args>
auto spawn_on(internal::Scheduler& scheduler, SpawnPlace where, F&& work, Args&&... args) {
  return spawn_named_on(scheduler, where, internal::NoName(), std::forward<F>(work),
                        std::forward<Args>(args)...);
}

/// What follows `work` are its arguments, or where the spawn is written.
template <class Name, class F, class Arg, class... Args>
[[gnu::always_inline]] inline auto spawn_as_written(Scheduler& scheduler, Name name, F&& work,
                                                    Arg&& arg, Args&&... args) {
  if constexpr (is_place_of_spawn<Arg, Args...>) {
    return spawn_named_on(scheduler, arg, std::move(name), std::forward<F>(work));
  } else {
    return spawn_named_on(scheduler, code_here(), std::move(name), std::forward<F>(work),
                          std::forward<Arg>(arg), std::forward<Args>(args)...);
  }
}

}  // namespace internal

/// `spawn` as a member, for whatever has a `scheduler()`.
template <class Executor>
class SpawnMembers {
 public:
  /// Puts a task on this executor: `spawn(fn, args...)` or `spawn(future)`, as at the top of
  /// exec/spawner.hpp.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn(F&& work, Arg&& arg = std::source_location::current(),
                                    Args&&... args) const {
    return internal::spawn_as_written(scheduler(), internal::NoName(), std::forward<F>(work),
                                      std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

 protected:
  SpawnMembers() = default;
  ~SpawnMembers() = default;

 private:
  internal::Scheduler& scheduler() const { return static_cast<const Executor&>(*this).scheduler(); }
};

/// A task spawned on an executor that is gone is cancelled at once.
/// Threads: any.
class ROUSE_API Spawner : public SpawnMembers<Spawner> {
 public:
  explicit Spawner(RefPtr<internal::Scheduler> scheduler) noexcept
      : scheduler_(std::move(scheduler)) {}

  /// Of the executor whose task is running; aborts with a message if none is.
  static Spawner current();

  /// The scheduler it spawns on: for other ways to spawn.
  internal::Scheduler& scheduler() const noexcept {
    ROUSE_ASSERT(scheduler_, "spawn with a Spawner that was moved from");
    return *scheduler_;
  }

 private:
  RefPtr<internal::Scheduler> scheduler_;
};

namespace internal {

/// The scheduler of the running task; aborts with a message if there is none.
ROUSE_API internal::Scheduler& current_scheduler() noexcept;

}  // namespace internal

/// Spawns on the executor whose task is running. See the top of this file.
template <class F, class Arg = std::source_location, class... Args>
[[gnu::always_inline]] inline auto spawn(F&& work, Arg&& arg = std::source_location::current(),
                                         Args&&... args) {
  return internal::spawn_as_written(internal::current_scheduler(), internal::NoName(),
                                    std::forward<F>(work), std::forward<Arg>(arg),
                                    std::forward<Args>(args)...);
}

}  // namespace rouse
