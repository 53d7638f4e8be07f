// TaskTracker: waits until a changing set of tasks has ended. It keeps no results and cancels
// nothing (see CancellationToken): together they make a graceful shutdown.
//
//   sync::TaskTracker tracker;
//   tracker.spawn(serve, peer).detach();      // from anywhere, as often as one likes
//   tracker.close();
//   co_await tracker.wait();                  // completes when everything tracked has ended
//
// Copies are the same tracker.
// Threads: any.
#pragma once

#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/sync/notify.hpp"

namespace rouse {
class Spawner;
}

namespace rouse::sync {

class TaskTracker {
  struct Shared;

 public:
  class Token;
  class Wait;
  template <Future F>
  class Tracked;

  /// Open, and tracks nothing.
  TaskTracker() : shared_(make_ref<Shared>()) {}

  /// `future`, tracked from now until it is destroyed, which an executor does when it completes.
  /// Works also if the tracker is closed.
  template <class F>
  [[nodiscard]] auto track_future(F&& future) const {
    using Kept = std::remove_cvref_t<F>;
    static_assert(Future<Kept>,
                  "track_future needs a future: did you pass a function instead of calling it? "
                  "write track_future(f())");
    if constexpr (Future<Kept>) return Tracked<Kept>(*this, std::forward<F>(future));
  }
  /// Counts as a tracked future while it lives.
  [[nodiscard]] Token token() const noexcept;

  // Defined in <rouse/runtime/tracked_spawn.hpp>: include that.

  /// As rouse::spawn: the task is tracked until its future is destroyed.
  template <class F, class Arg = std::source_location, class... Args>
  auto spawn(F&& work, Arg&& arg = std::source_location::current(), Args&&... args) const;
  /// The same on the executor of a Spawner.
  template <class F, class Arg = std::source_location, class... Args>
  auto spawn_on(const Spawner& spawner, F&& work, Arg&& arg = std::source_location::current(),
                Args&&... args) const;
  /// The same on the LocalExecutor or LocalSet that this thread is running.
  template <class F, class Arg = std::source_location, class... Args>
  auto spawn_local(F&& work, Arg&& arg = std::source_location::current(), Args&&... args) const;

  /// From now on `wait` completes when nothing is tracked. True if it was open.
  ROUSE_API bool close() const noexcept;
  /// Lets `wait` wait again. True if it was closed.
  ROUSE_API bool reopen() const noexcept;
  /// Whether `close` was called, and `reopen` not since.
  [[nodiscard]] bool is_closed() const noexcept { return (shared().load() & closed) != 0; }

  /// How many are tracked now.
  [[nodiscard]] std::size_t size() const noexcept { return shared().load() / one; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// Completes when the tracker is closed and tracks nothing, or was so at some moment since this
  /// call. Keeps the tracker alive.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Wait wait() const noexcept;

 private:
  static constexpr std::size_t closed = 1;
  static constexpr std::size_t one = 2;

  struct Shared : RefCounted<Shared> {
    // ORDER: acquire; whoever sees that all have ended sees what they did.
    [[nodiscard]] std::size_t load() const noexcept { return word.load(memory_order_acquire); }
    ROUSE_API void release_one() noexcept;
    atomic<std::size_t> word{0};  // twice the number of tokens, and whether it is closed
    Notify ended;
  };

  Shared& shared() const noexcept {
    ROUSE_ASSERT(shared_, "use of a TaskTracker that was moved from: use the one it went to");
    return *shared_;
  }

  RefPtr<Shared> shared_;
};

class TaskTracker::Token {
 public:
  explicit Token(Shared& shared) noexcept : shared_(RefPtr<Shared>::share(&shared)) {
    shared.word.fetch_add(one, memory_order_relaxed);
  }
  Token(const Token& other) noexcept : shared_(other.shared_) {
    if (shared_) shared_->word.fetch_add(one, memory_order_relaxed);
  }
  Token(Token&&) noexcept = default;
  Token& operator=(Token other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Token() {
    if (shared_) shared_->release_one();
  }

 private:
  RefPtr<Shared> shared_;
};

inline TaskTracker::Token TaskTracker::token() const noexcept { return Token(shared()); }

class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] TaskTracker::Wait {
 public:
  using Output = void;

  explicit Wait(Shared& shared) noexcept
      : shared_(RefPtr<Shared>::share(&shared)), ended_(shared.ended.notified()) {}

  ROUSE_API Poll<> poll(Context& cx);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Wait, "TaskTracker", notify, &Wait::shared_)

 private:
  RefPtr<Shared> shared_;
  Notify::Notified ended_;
};

inline TaskTracker::Wait TaskTracker::wait() const noexcept { return Wait(shared()); }

/// The future of track_future: see there.
template <Future F>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] TaskTracker::Tracked {
 public:
  using Output = output_t<F>;

  Tracked(const TaskTracker& tracker, F future)
      : token_(tracker.token()), future_(std::move(future)) {}
  Poll<Output> poll(Context& cx) { return future_.poll(cx); }
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(future_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Tracked, nullptr, one, &Tracked::future_)

 private:
  Token token_;  // goes after the future
  F future_;
};

}  // namespace rouse::sync
