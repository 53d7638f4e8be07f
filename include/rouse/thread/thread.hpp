// rouse::thread: a system thread that can be joined as a future. For code that runs for long and
// blocks: reading a device, a foreign event loop. Short blocking calls are cheaper with
// spawn_blocking, which reuses threads and needs a Runtime; this does not.
//
//   auto reader = thread::Builder().name("sensor").spawn(read_sensor, std::move(port));
//   Samples samples = co_await reader.join();
//
// The thread owns the function and its arguments, as a standard thread does: std::ref(x) for a
// parameter `T&`. Nobody stops a thread; one that is not joined runs on. It must not call
// pthread_exit, which ends the program; return instead.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/oneshot.hpp"

namespace rouse::internal {

/// What a thread does, its types erased.
class ThreadBody {
 public:
  ThreadBody() noexcept = default;
  ThreadBody(const ThreadBody&) = delete;
  ThreadBody& operator=(const ThreadBody&) = delete;
  virtual ~ThreadBody() = default;
  /// On the new thread.
  virtual void run() noexcept = 0;
};

/// Throws std::system_error.
ROUSE_API void start_thread(const std::string& name, std::size_t stack_size,
                            internal::Box<ThreadBody> body);

/// One line to stderr about an exception that nobody joins.
ROUSE_API void report_thread_exception(const std::exception_ptr& error) noexcept;

/// How a thread's function ended. An exception that nobody has taken when this is destroyed is
/// printed to stderr, by the thread or by a handle that was dropped meanwhile.
template <class T>
class Ending {
 public:
  explicit Ending(internal::Outcome<T>&& outcome) noexcept(
      noexcept(internal::Outcome<T>(std::move(outcome))))
      : outcome_(std::move(outcome)) {}
  Ending(Ending&& other) noexcept(noexcept(internal::Outcome<T>(std::move(other.outcome_))))
      : outcome_(other.take()) {}
  ~Ending() {
    if (outcome_.is_error()) report_thread_exception(outcome_.error());
  }

  /// The outcome, for whoever joins.
  [[nodiscard]] internal::Outcome<T> take() {
    internal::Outcome<T> taken(std::move(outcome_));
    outcome_.reset();
    return taken;
  }

 private:
  internal::Outcome<T> outcome_;
};

}  // namespace rouse::internal

namespace rouse::thread {

template <class T>
class Join;

/// Dropping it, like `detach`, lets the thread run on: its result is lost, and an exception is
/// printed to stderr.
/// Threads: any, one at a time.
template <class T = void>
class [[nodiscard("say .detach() if nobody is to wait for this thread")]] JoinHandle {
 public:
  explicit JoinHandle(sync::OneshotReceiver<internal::Ending<T>> end) noexcept
      : end_(std::move(end)) {}
  JoinHandle(JoinHandle&& other) noexcept : end_(std::move(other.end_)) { take_ending(other); }
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    if (this == &other) return *this;
    detach();
    end_ = std::move(other.end_);
    take_ending(other);
    return *this;
  }
  ~JoinHandle() { detach(); }

  /// Completes when the function has returned and it and its arguments are destroyed: with its
  /// result, or by throwing what it threw. (thread_local variables are destroyed after that.) Works
  /// on any executor.
  /// Cancel safety: if dropped midway, it detaches the thread.
  /// Errors: throws std::system_error (operation_canceled) if the thread was already joined or
  /// detached.
  [[nodiscard]] Join<T> join() { return Join<T>(std::move(*this)); }

  /// Whether the function has returned. Not after `join`.
  [[nodiscard]] bool is_finished() {
    if (!ending_) keep(end_.try_recv());
    return ending_.has_value();
  }

  /// Lets the thread run on.
  void detach() noexcept {
    end_.close();  // from here on the thread finds that nobody joins
    if (is_finished()) ending_.reset();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinHandle, nullptr, one, &JoinHandle::end_)

 private:
  friend class Join<T>;

  Poll<T> poll_join(Context& cx) {
    if (!ending_) {
      auto received = end_.poll(cx);
      if (received.is_pending()) return pending;
      if (!received.value()) {
        throw std::system_error(std::make_error_code(std::errc::operation_canceled),
                                "join: the thread has no result");
      }
      keep(std::move(received.value()));
    }
    internal::Outcome<T> outcome = ending_->take();
    ending_.reset();
    return internal::take_ready(outcome);
  }
  void keep(std::optional<internal::Ending<T>> ending) {
    if (ending) ending_.emplace(*std::move(ending));
  }
  void take_ending(JoinHandle& other) {
    keep(std::move(other.ending_));
    other.ending_.reset();
  }

  sync::OneshotReceiver<internal::Ending<T>> end_;
  std::optional<internal::Ending<T>> ending_;  // from when it was received until it is taken
};

/// See JoinHandle::join. It may be moved at any time.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Join {
 public:
  using Output = T;

  explicit Join(JoinHandle<T> handle) noexcept : handle_(std::move(handle)) {}
  Poll<T> poll(Context& cx) { return handle_.poll_join(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Join, "thread", one, &Join::handle_)

 private:
  JoinHandle<T> handle_;
};

}  // namespace rouse::thread

namespace rouse::internal {

/// The function of a thread and its arguments.
template <class Fn, class... Args>
class OwnedThreadBody final : public ThreadBody {
 public:
  using Given = std::invoke_result_t<Fn, Args...>;

  template <class G, class... As>
  explicit OwnedThreadBody(sync::OneshotSender<Ending<Given>> end, G&& fn, As&&... args)
      : end_(std::move(end)),
        call_(std::in_place, std::forward<G>(fn), std::forward<As>(args)...) {}

  void run() noexcept override {
    internal::Outcome<Given> outcome;
    try {
      call(outcome);
      call_.reset();
    } catch (...) {
      outcome.reset();
      outcome.set_error(std::current_exception());
      call_.reset();
    }
    (void)end_.send(Ending<Given>(std::move(outcome)));
  }

 private:
  void call(internal::Outcome<Given>& outcome) {
    const auto invoke = [](Fn& fn, Args&... args) -> Given {
      return internal::invoke(std::move(fn), std::move(args)...);
    };
    if constexpr (std::is_void_v<Given>) {
      std::apply(invoke, *call_);
      outcome.set_value();
    } else {
      outcome.set_value(std::apply(invoke, *call_));
    }
  }

  sync::OneshotSender<Ending<Given>> end_;
  std::optional<std::tuple<Fn, Args...>> call_;  // destroyed before the joiner is woken
};

}  // namespace rouse::internal

namespace rouse::thread {

/// Settings of a thread before it starts.
class Builder {
 public:
  Builder() noexcept = default;

  /// The system shows the first 15 bytes. Default: that of the thread that starts it.
  Builder& name(std::string name) {
    name_ = std::move(name);
    return *this;
  }
  /// Default: what the system gives.
  Builder& stack_size(std::size_t bytes) noexcept {
    stack_size_ = bytes;
    return *this;
  }

  /// See thread::spawn.
  template <class Fn, class... Args>
  auto spawn(Fn&& fn, Args&&... args) const {
    constexpr bool is_callable = std::is_invocable_v<std::decay_t<Fn>, std::decay_t<Args>...>;
    static_assert(is_callable,
                  "thread::spawn needs a function that can be called with these arguments: write "
                  "thread::spawn(fn, args...), and std::ref(x) for a parameter `T&`");
    if constexpr (is_callable) {
      using Body = internal::OwnedThreadBody<std::decay_t<Fn>, std::decay_t<Args>...>;
      using Given = typename Body::Given;
      static_assert(!Future<std::remove_cvref_t<Given>>,
                    "thread::spawn runs a plain function; for a coroutine use spawn, or block_on "
                    "inside the thread");
      auto [end, receiver] = sync::oneshot<internal::Ending<Given>>();
      internal::start_thread(name_, stack_size_,
                             internal::make_box<Body>(std::move(end), std::forward<Fn>(fn),
                                                      std::forward<Args>(args)...));
      return JoinHandle<Given>(std::move(receiver));
    }
  }

 private:
  std::string name_;
  std::size_t stack_size_ = 0;
};

/// Starts a thread that calls `fn(args...)` and owns both.
/// Threads: any, inside a task or not.
/// Errors: throws std::system_error if the system can't start a thread.
template <class Fn, class... Args>
auto spawn(Fn&& fn, Args&&... args) {
  return Builder().spawn(std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace rouse::thread
