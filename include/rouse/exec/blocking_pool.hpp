// BlockingPool: threads for functions that block: file system calls, foreign libraries, long
// computations. A task that blocked would stop its executor; here each call has a thread to itself.
//
//   std::size_t size_of(const std::string& path);   // reads the disk
//   const auto size = co_await spawn_blocking(size_of, path);
//
// A blocking call is a task: it has a JoinHandle, an id, and its exceptions go where those of tasks
// go. It can't be stopped once it runs: `abort` cancels it only before. Inside a call blocking is
// allowed (also `block_on`), and `spawn` puts tasks on the runtime that the pool belongs to.
//
// Threads are started when no idle one is left, up to a maximum, and end when they are idle for
// long. The queue is bounded too: what finds it full fails at once.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/stored_argument.hpp"
#include "rouse/exec/task.hpp"
#include "rouse/exec/unhandled.hpp"

namespace rouse {

class BlockingCore;

/// The hooks must not throw.
class BlockingOptions {
 public:
  BlockingOptions() = default;

  std::size_t max_threads = 512;                                   ///< at least 1
  std::chrono::nanoseconds keep_alive = std::chrono::seconds(10);  ///< of an idle thread
  std::size_t queue_capacity = std::size_t{1} << 20;               ///< calls that wait for a thread
  std::string thread_name = "rouse-blocking";                      ///< the first 15 bytes count
  std::size_t stack_size = 0;                                      ///< 0: what the system gives
  std::function<void()> on_thread_start;  ///< on each new thread, before anything else
  std::function<void()> on_thread_stop;   ///< on each thread that ends, after everything else
  UnhandledHook on_unhandled;  ///< an exception of a call that nobody joins; on its thread
};

/// What a pool has at some moment near this one.
class BlockingMetrics {
 public:
  BlockingMetrics() = default;

  std::size_t threads = 0;       ///< that run calls, wait for one, or block in place
  std::size_t idle_threads = 0;  ///< that wait for one
  std::size_t queue_depth = 0;   ///< calls that wait for a thread
};

/// What calling a kept Fn with kept Args gives; nothing if that can't be done.
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
      : fn_(std::forward<G>(fn)), args_(std::forward<As>(args)...) {}
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  Poll<Output> poll(Context&) {
    return std::apply(
        [this](Args&... args) {
          if constexpr (std::is_void_v<Output>) {
            std::invoke(fn_, static_cast<Args&&>(args)...);
            return Poll<void>::ready();
          } else {
            return Poll<Output>::ready(std::invoke(fn_, static_cast<Args&&>(args)...));
          }
        },
        args_);
  }

 private:
  [[no_unique_address]] Fn fn_;
  [[no_unique_address]] std::tuple<Args...> args_;
};

/// Puts a function on the scheduler of a BlockingPool.
template <class Name, class Fn, class... Args>
auto spawn_blocking_named_on(Scheduler& pool, std::source_location where, Name name, Fn&& fn,
                             Args&&... args) {
  using Stored = StoredCall<std::index_sequence_for<Args...>, std::decay_t<Fn>, Args...>;
  using Result = typename Stored::template into<BlockingResult>;
  static_assert(!Result::is_future,
                "spawn_blocking runs a plain function; for a coroutine use spawn");
  static_assert(Result::is_callable,
                "spawn_blocking needs a function that can be called with these arguments: write "
                "spawn_blocking(fn, args...), and std::ref(x) for a parameter `T&`");
  if constexpr (Result::is_callable && !Result::is_future) {
    using Call = typename Stored::template into<BlockingCall>;
    auto& task = Task<Call, Name>::make_named(std::move(name), pool, where, std::forward<Fn>(fn),
                                              std::forward<Args>(args)...);
    pool.submit(task);
    return JoinHandle<output_t<Call>>(task);
  }
}

/// All of it may be used from any thread.
class ROUSE_API BlockingPool {
 public:
  BlockingPool();
  /// `owner` is where `spawn` inside a call puts tasks. It owns this pool, or outlives it. Calls
  /// that are queued or run keep it alive: it closes the pool when it shuts down.
  explicit BlockingPool(BlockingOptions options, Scheduler* owner = nullptr);
  explicit BlockingPool(RefPtr<BlockingCore> core) noexcept;
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  /// Closes the pool. Does not wait: calls that run go on, on threads that end by themselves.
  ~BlockingPool();

  /// Runs `fn(args...)` on a thread of the pool; function, captures and arguments belong to the
  /// call. The handle gives what it returned or threw; JoinError if it was aborted before it began
  /// or the pool is closed; std::system_error (resource_unavailable_try_again) if the queue is full
  /// or there is no thread and none can be started.
  template <class Fn>
  auto spawn(Fn&& fn, std::source_location where = std::source_location::current()) {
    return spawn_blocking_named_on(scheduler(), where, NoName(), std::forward<Fn>(fn));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  auto spawn(Fn&& fn, Arg&& arg, Args&&... args) {
    return spawn_blocking_named_on(scheduler(), {}, NoName(), std::forward<Fn>(fn),
                                   std::forward<Arg>(arg), std::forward<Args>(args)...);
  }

  /// Runs a long-lived job, which must not throw, on a thread that does not count as one of
  /// `max_threads`: an idle one, or a new one. Such a job is no task. Errors: operation_canceled
  /// (the pool is closed, and this is none of its threads), or why no thread could be started.
  Result<void> run_thread(const std::function<void()>& job);
  /// The same for a thread that runs a job and leaves it to another, because it is about to block:
  /// it counts as one of `max_threads` from now on. Errors: also resource_unavailable_try_again, if
  /// there were too many then; one thread is always left for calls.
  Result<void> replace_thread(const std::function<void()>& job);

  /// Takes a task as `spawn` does, which is then run even if the pool is closed before it begins:
  /// what somebody counts on already, as the bytes that a File took. False: refused, its outcome
  /// says why.
  bool submit_mandatory(TaskHeader& task);

  /// No new calls are taken; those that have not begun are cancelled, unless they are mandatory;
  /// idle threads end. Once is enough.
  void close() noexcept;
  /// Waits for the end of all threads of a closed pool; false if that takes longer than `timeout`,
  /// or if this is one of them. Then they end by themselves.
  bool wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

  [[nodiscard]] BlockingMetrics metrics() const noexcept;
  /// No call waits or runs.
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] Scheduler& scheduler() const noexcept;

 private:
  RefPtr<BlockingCore> core_;
};

/// The pool of the runtime whose task is running; aborts with a hint if there is none.
ROUSE_API BlockingPool& current_blocking_pool() noexcept;

/// Runs `fn(args...)` where it may block: see BlockingPool::spawn.
/// Completes when the function has returned. Dropped midway: the function runs all the same, its
/// result is lost. Any thread that runs a task of a Runtime.
template <class Fn>
auto spawn_blocking(Fn&& fn, std::source_location where = std::source_location::current()) {
  return current_blocking_pool().spawn(std::forward<Fn>(fn), where);
}
template <class Fn, class Arg, class... Args>
  requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
auto spawn_blocking(Fn&& fn, Arg&& arg, Args&&... args) {
  return current_blocking_pool().spawn(std::forward<Fn>(fn), std::forward<Arg>(arg),
                                       std::forward<Args>(args)...);
}

}  // namespace rouse
