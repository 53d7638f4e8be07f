// rouse::thread: a system thread of its own, and its end as a future. For what runs for long and
// blocks: a device that is read, a foreign event loop. Short blocking calls are cheaper with
// spawn_blocking, which keeps threads and needs a Runtime; this does not.
//
//   auto reader = thread::Builder().name("sensor").spawn(read_sensor, std::move(port));
//   Samples samples = co_await reader.join();
//
// The function and its arguments belong to the thread, as a standard thread's do: std::ref(x) for a
// parameter `T&`. Nobody stops a thread; one that is not joined runs on by itself. It must not call
// pthread_exit: that ends the program; return instead.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/oneshot.hpp"

namespace rouse::thread {

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
                            std::unique_ptr<ThreadBody> body);
/// One line to stderr about an exception that nobody joins.
ROUSE_API void report_unhandled(const std::exception_ptr& error) noexcept;

/// How a thread's function ended. An exception that nobody has taken when this goes is told on
/// stderr: so whoever is left with it, the thread or a handle that was dropped meanwhile, tells.
template <class T>
class Ending {
 public:
  explicit Ending(Outcome<T>&& outcome) noexcept(noexcept(Outcome<T>(std::move(outcome))))
      : outcome_(std::move(outcome)) {}
  Ending(Ending&& other) noexcept(noexcept(Outcome<T>(std::move(other.outcome_))))
      : outcome_(other.take()) {}
  ~Ending() {
    if (outcome_.is_error()) report_unhandled(outcome_.error());
  }

  [[nodiscard]] Outcome<T> take() {
    Outcome<T> taken(std::move(outcome_));
    outcome_.reset();
    return taken;
  }

 private:
  Outcome<T> outcome_;
};

template <class T>
class Join;

/// Dropping it, like `detach`, lets the thread run on by itself: its result is lost, an exception
/// is told on stderr. Usable from any thread, by one at a time.
template <class T = void>
class [[nodiscard("say .detach() if nobody is to wait for this thread")]] JoinHandle {
 public:
  explicit JoinHandle(sync::OneshotReceiver<Ending<T>> end) noexcept : end_(std::move(end)) {}
  JoinHandle(JoinHandle&& other) noexcept : end_(std::move(other.end_)) { take_ending(other); }
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    if (this == &other) return *this;
    detach();
    end_ = std::move(other.end_);
    take_ending(other);
    return *this;
  }
  ~JoinHandle() { detach(); }

  /// Completes when the function has returned and it and its arguments are destroyed: with what it
  /// returned, or throwing what it threw. (What is thread_local is destroyed after that.) Any
  /// executor. Dropped midway, it detaches the thread. Throws std::system_error
  /// (operation_canceled) if the thread was joined or detached before.
  [[nodiscard]] Join<T> join() { return Join<T>(std::move(*this)); }

  /// Whether the function has returned. Not after `join`.
  [[nodiscard]] bool is_finished() {
    if (!ending_) keep(end_.try_recv());
    return ending_.has_value();
  }

  void detach() noexcept {
    end_.close();  // from here on it is the thread that finds nobody to tell
    if (is_finished()) ending_.reset();
  }

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
    Outcome<T> outcome = ending_->take();
    ending_.reset();
    return take_ready(outcome);
  }
  void keep(std::optional<Ending<T>> ending) {
    if (ending) ending_.emplace(*std::move(ending));
  }
  void take_ending(JoinHandle& other) {
    keep(std::move(other.ending_));
    other.ending_.reset();
  }

  sync::OneshotReceiver<Ending<T>> end_;
  std::optional<Ending<T>> ending_;  // from when it was received until it is taken
};

/// See JoinHandle::join. It may be moved at any time.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Join {
 public:
  using Output = T;

  explicit Join(JoinHandle<T> handle) noexcept : handle_(std::move(handle)) {}
  Poll<T> poll(Context& cx) { return handle_.poll_join(cx); }

 private:
  JoinHandle<T> handle_;
};

template <class Fn, class... Args>
class OwnedThreadBody final : public ThreadBody {
 public:
  using Given = std::invoke_result_t<Fn, Args...>;

  template <class G, class... As>
  explicit OwnedThreadBody(sync::OneshotSender<Ending<Given>> end, G&& fn, As&&... args)
      : end_(std::move(end)),
        call_(std::in_place, std::forward<G>(fn), std::forward<As>(args)...) {}

  void run() noexcept override {
    Outcome<Given> outcome;
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
  void call(Outcome<Given>& outcome) {
    const auto invoke = [](Fn& fn, Args&... args) -> Given {
      return std::invoke(std::move(fn), std::move(args)...);
    };
    if constexpr (std::is_void_v<Given>) {
      std::apply(invoke, *call_);
      outcome.set_value();
    } else {
      outcome.set_value(std::apply(invoke, *call_));
    }
  }

  sync::OneshotSender<Ending<Given>> end_;
  std::optional<std::tuple<Fn, Args...>> call_;  // gone before the end is told
};

/// What may be said about a thread before it starts.
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
      using Body = OwnedThreadBody<std::decay_t<Fn>, std::decay_t<Args>...>;
      using Given = typename Body::Given;
      static_assert(!Future<std::remove_cvref_t<Given>>,
                    "thread::spawn runs a plain function; for a coroutine use spawn, or block_on "
                    "inside the thread");
      auto [end, receiver] = sync::oneshot<Ending<Given>>();
      start_thread(name_, stack_size_,
                   std::make_unique<Body>(std::move(end), std::forward<Fn>(fn),
                                          std::forward<Args>(args)...));
      return JoinHandle<Given>(std::move(receiver));
    }
  }

 private:
  std::string name_;
  std::size_t stack_size_ = 0;
};

/// Starts a thread that calls `fn(args...)`; both belong to it. Any thread, inside a task or not.
/// Throws std::system_error if the system starts no thread.
template <class Fn, class... Args>
auto spawn(Fn&& fn, Args&&... args) {
  return Builder().spawn(std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace rouse::thread
