// BlockingPool: threads for functions that block: file system calls, foreign libraries, long
// computations. A task that blocks would stop its executor; here each call has a thread to itself.
//
//   std::size_t size_of(const std::string& path);   // reads the disk
//   const auto size = co_await spawn_blocking(size_of, path);
//
// A blocking call is a task: it has a JoinHandle and an id, and its exceptions are handled like
// those of tasks. A running call can't be stopped: `abort` only cancels one that has not begun.
// Inside a call blocking is allowed (even `block_on`), and `spawn` puts tasks on the runtime that
// the pool belongs to.
//
// A thread is started when no idle one is left, up to a maximum, and ends when it has been idle for
// long. The queue is bounded too: a call that finds it full fails at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/internal/stored_argument.hpp"
#include "rouse/exec/internal/task.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse::internal {
class BlockingCore;
}  // namespace rouse::internal

namespace rouse {

/// The hooks must not throw.
class BlockingOptions {
 public:
  BlockingOptions() = default;

  std::size_t max_threads = 512;                                   ///< at least 1
  std::chrono::nanoseconds keep_alive = std::chrono::seconds(10);  ///< of an idle thread
  std::size_t queue_capacity = std::size_t{1} << 20;               ///< calls waiting for a thread
  std::string thread_name = "rouse-blocking";                      ///< the first 15 bytes count
  std::size_t stack_size = 0;                                      ///< 0: what the system gives
  Function<void()> on_thread_start;  ///< on each new thread, before anything else
  Function<void()> on_thread_stop;   ///< on each thread that ends, after everything else
  UnhandledHook on_unhandled;        ///< an exception of a call that nobody joins; on its thread
};

/// The state of a pool at about this moment.
class BlockingMetrics {
 public:
  BlockingMetrics() = default;

  std::size_t threads = 0;       ///< threads that run calls, are idle, or block in place
  std::size_t idle_threads = 0;  ///< threads without a call
  std::size_t queue_depth = 0;   ///< calls waiting for a thread
  std::uint64_t calls = 0;       ///< that were accepted, so far
};

namespace internal {

/// The result of calling a stored Fn with stored Args; void if that can't be done.
template <class Fn, class... Args>
struct BlockingResult {
  static constexpr bool is_callable = false;
  static constexpr bool is_future = false;
};
template <class Fn, class... Args>
  requires std::invocable<Fn&, Args&&...>
struct BlockingResult<Fn, Args...> {
  using Given = std::invoke_result_t<Fn&, Args&&...>;
  static constexpr bool is_callable = true;
  static constexpr bool is_future = Future<std::remove_cvref_t<Given>>;
  using type =
      std::conditional_t<std::is_lvalue_reference_v<Given>, Given, std::remove_cvref_t<Given>>;
};

/// The future behind a blocking call: owns the function and its arguments, and calls it in its
/// first poll, which is on a thread of the pool.
template <class Fn, class... Args>
class BlockingCall {
 public:
  using Output = typename BlockingResult<Fn, Args...>::type;

  template <class G, class... As>
  explicit BlockingCall(G&& fn, As&&... args)
      : fn_(std::forward<G>(fn)), args_(std::in_place, std::forward<As>(args)...) {}
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  Poll<Output> poll(Context&) {
    return args_.give_to([this](Args&&... args) {
      if constexpr (std::is_void_v<Output>) {
        internal::invoke(fn_, static_cast<Args&&>(args)...);
        return Poll<void>::ready();
      } else {
        return Poll<Output>::ready(internal::invoke(fn_, static_cast<Args&&>(args)...));
      }
    });
  }

 private:
  [[no_unique_address]] Fn fn_;
  [[no_unique_address]] Pack<Args...> args_;
};

/// Puts a function on the scheduler of a BlockingPool.
template <class Name, class Fn, class... Args>
auto spawn_blocking_named_on(internal::Scheduler& pool, SpawnPlace where, Name name, Fn&& fn,
                             Args&&... args) {
  using Stored = internal::StoredCall<std::index_sequence_for<Args...>, std::decay_t<Fn>, Args...>;
  using Result = typename Stored::template into<BlockingResult>;
  static_assert(!Result::is_future,
                "spawn_blocking runs a plain function; for a coroutine use spawn");
  static_assert(Result::is_callable,
                "spawn_blocking needs a function that can be called with these arguments: write "
                "spawn_blocking(fn, args...), and std::ref(x) for a parameter `T&`");
  if constexpr (Result::is_callable && !Result::is_future) {
    using Call = typename Stored::template into<BlockingCall>;
    auto& task = internal::Task<Call, Name>::make_named(
        std::move(name), pool, where, std::forward<Fn>(fn), std::forward<Args>(args)...);
    pool.submit(task);
    return JoinHandle<output_t<Call>>(task);
  }
}

/// What follows `fn` are its arguments, or where the spawn is written.
template <class Name, class Fn, class Arg, class... Args>
[[gnu::always_inline]] inline auto spawn_blocking_as_written(internal::Scheduler& pool, Name name,
                                                             Fn&& fn, Arg&& arg, Args&&... args) {
  if constexpr (internal::is_place_of_spawn<Arg, Args...>) {
    return internal::spawn_blocking_named_on(pool, arg, std::move(name), std::forward<Fn>(fn));
  } else {
    return internal::spawn_blocking_named_on(pool, internal::code_here(), std::move(name),
                                             std::forward<Fn>(fn), std::forward<Arg>(arg),
                                             std::forward<Args>(args)...);
  }
}

}  // namespace internal

/// All of it may be used from any thread.
class ROUSE_API BlockingPool {
 public:
  BlockingPool();
  /// `spawn` inside a call puts tasks on `owner`, which owns this pool, or outlives it. Queued and
  /// running calls keep it alive: it closes the pool when it shuts down.
  explicit BlockingPool(BlockingOptions options, internal::Scheduler* owner = nullptr);
  explicit BlockingPool(RefPtr<internal::BlockingCore> core) noexcept;
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  /// Closes the pool. Does not wait: running calls continue, on threads that end by themselves.
  ~BlockingPool();

  /// Runs `fn(args...)` on a thread of the pool; the call owns function, captures and arguments.
  /// Joining the handle gives its result or throws what it threw.
  /// Errors: JoinError if it was aborted before it began or the pool is closed; std::system_error
  /// (resource_unavailable_try_again) if the queue is full, or if there is no thread and none can
  /// be started.
  template <class Fn, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] auto spawn(Fn&& fn, Arg&& arg = std::source_location::current(),
                                    Args&&... args) {
    return internal::spawn_blocking_as_written(scheduler(), internal::NoName(),
                                               std::forward<Fn>(fn), std::forward<Arg>(arg),
                                               std::forward<Args>(args)...);
  }

  /// Runs a long-lived job, which must not throw, on a thread that does not count towards
  /// `max_threads`: an idle one, or a new one. Such a job is not a task.
  /// Errors: operation_canceled (the pool is closed, and this is not one of its threads), or why no
  /// thread could be started.
  Result<void> run_thread(const Function<void()>& job);
  /// The same for a thread that is about to block and leaves its job to another: it counts towards
  /// `max_threads` from now on.
  /// Errors: also resource_unavailable_try_again, if that would exceed the limit; one thread is
  /// always reserved for calls.
  Result<void> replace_thread(const Function<void()>& job);

  /// Accepts a task like `spawn`, but runs it even if the pool is closed before it begins: for work
  /// that somebody already relies on, such as bytes that a File has accepted. False: refused, its
  /// outcome says why.
  bool submit_mandatory(internal::TaskHeader& task);

  /// Accepts no new calls; cancels those that have not begun, unless they are mandatory; idle
  /// threads end. Idempotent.
  void close() noexcept;
  /// Waits until all threads of a closed pool have ended; false if that takes longer than
  /// `timeout`, or if this is one of them. Then they end by themselves.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

  [[nodiscard]] BlockingMetrics metrics() const noexcept;
  /// No call waits or runs.
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] internal::Scheduler& scheduler() const noexcept;

 private:
  RefPtr<internal::BlockingCore> core_;
};

namespace internal {

/// The pool of the runtime whose task is running; aborts with a message if there is none.
ROUSE_API BlockingPool& current_blocking_pool() noexcept;

}  // namespace internal

/// Runs `fn(args...)` where it may block: see BlockingPool::spawn. Completes when the function has
/// returned.
/// Cancel safety: if dropped midway, the function still runs, and its result is lost.
/// Threads: any that runs a task of a Runtime.
template <class Fn, class Arg = std::source_location, class... Args>
[[gnu::always_inline]] inline auto spawn_blocking(Fn&& fn,
                                                  Arg&& arg = std::source_location::current(),
                                                  Args&&... args) {
  return internal::current_blocking_pool().spawn(std::forward<Fn>(fn), std::forward<Arg>(arg),
                                                 std::forward<Args>(args)...);
}

}  // namespace rouse
