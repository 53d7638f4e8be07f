// JoinSet<T>: tasks that belong together. They are joined in the order of completion; destroying
// the set aborts those that are left.
//
//   JoinSet<Page> pages;
//   for (const Url& url : urls) pages.spawn(fetch, url);
//   while (auto page = co_await pages.join_next()) use(*page);
//
// A completion costs O(1), however many tasks there are (future/futures_unordered.hpp). The set may
// be moved, but not while somebody awaits join_next or shutdown.
// Threads: one task uses it at a time; the tasks in it run wherever they were spawned.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/futures_unordered.hpp"

namespace rouse {

namespace internal {

/// Gives the JoinHandle of a task once that is done; aborts the task when it is dropped before.
template <class T>
class [[nodiscard]] AbortOnDrop {
 public:
  using Output = JoinHandle<T>;

  explicit AbortOnDrop(JoinHandle<T> handle) noexcept : handle_(std::move(handle)) {}
  AbortOnDrop(AbortOnDrop&&) noexcept = default;
  AbortOnDrop& operator=(AbortOnDrop&&) = delete;
  ~AbortOnDrop() { handle_.abort(); }

  Poll<Output> poll(Context& cx) {
    if (!handle_.poll_finished(cx)) return pending;
    return Poll<Output>::ready(std::move(handle_));
  }
  /// Of the task.
  [[nodiscard]] TaskId id() const noexcept { return handle_.id(); }
  /// As JoinHandle::abort.
  void abort() { handle_.abort(); }
  /// Lets the task run on.
  void detach() noexcept { handle_.detach(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AbortOnDrop, nullptr, one, &AbortOnDrop::handle_)

 private:
  JoinHandle<T> handle_;
};

}  // namespace internal

template <class T = void>
class [[nodiscard]] JoinSet {
 public:
  class JoinNext;
  class JoinNextWithId;
  class Shutdown;

  JoinSet() noexcept = default;

  /// Spawns on the executor whose task is running; join_next gives the result. Takes a function
  /// with arguments or a future: see exec/spawner.hpp.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] TaskId spawn(F&& work, Arg&& arg = std::source_location::current(),
                                      Args&&... args) {
    return add(
        rouse::spawn(std::forward<F>(work), std::forward<Arg>(arg), std::forward<Args>(args)...));
  }

  /// The same on the executor of a Spawner.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] TaskId spawn_on(const Spawner& spawner, F&& work,
                                         Arg&& arg = std::source_location::current(),
                                         Args&&... args) {
    return add(
        spawner.spawn(std::forward<F>(work), std::forward<Arg>(arg), std::forward<Args>(args)...));
  }

  /// The same on the LocalExecutor or LocalSet that this thread is running.
  template <class F, class Arg = std::source_location, class... Args>
  [[gnu::always_inline]] TaskId spawn_local(F&& work, Arg&& arg = std::source_location::current(),
                                            Args&&... args) {
    return add(rouse::spawn_local(std::forward<F>(work), std::forward<Arg>(arg),
                                  std::forward<Args>(args)...));
  }

  /// Adds a task that was spawned before, by a task::Builder for example.
  template <class U>
  TaskId add(JoinHandle<U> handle) {
    static_assert(std::same_as<U, T>,
                  "JoinSet<T>: all its tasks give a T, and this one gives something else");
    const TaskId id = handle.id();
    tasks_.push(internal::AbortOnDrop<T>(std::move(handle)));
    return id;
  }

  /// Completes when a task of the set is done: with its result (true if T is void), or by throwing
  /// what the task threw, or JoinError if it was cancelled. With an empty optional (false) once the
  /// set is empty. Borrows the set.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] JoinNext join_next() noexcept { return JoinNext(*this); }

  /// The same, with the handle of the task: its `id()` says which it is, and awaiting it gives the
  /// result, or throws, at once. (So the id is known also if the task threw.)
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] JoinNextWithId join_next_with_id() noexcept { return JoinNextWithId(*this); }
  /// As join_next, if a task is done now. An empty optional (false): none is, or the set is empty.
  auto try_join_next() {
    Context cx(Waker::noop());
    auto next = JoinNext(*this).poll(cx);
    return next.is_ready() ? std::move(next).value() : typename JoinNext::Output();
  }

  /// Aborts the task with this id. False: it is not in the set. Looks at each task in turn: to
  /// abort many, `add` handles whose abort_handle() was kept.
  bool abort(TaskId id) {
    bool found = false;
    tasks_.for_each([&](internal::AbortOnDrop<T>& task) {
      if (task.id() != id) return;
      task.abort();
      found = true;
    });
    return found;
  }
  /// Aborts all tasks. They stay in the set, and join_next throws JoinError for each that was not
  /// already done.
  void abort_all() {
    tasks_.for_each([](internal::AbortOnDrop<T>& task) { task.abort(); });
  }
  /// Lets all tasks run on. The set is then empty.
  void detach_all() noexcept {
    tasks_.for_each([](internal::AbortOnDrop<T>& task) { task.detach(); });
    tasks_.clear();
  }
  /// Aborts all tasks and completes when they have ended; the set is then empty. Results and
  /// exceptions of the tasks are dropped. Borrows the set.
  /// Cancel safety: if dropped midway, the remaining tasks are aborted and still in the set.
  [[nodiscard]] Shutdown shutdown() noexcept { return Shutdown(*this); }

  /// Tasks that are not joined yet, done or not.
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinSet, nullptr, one, &JoinSet::tasks_)

 private:
  FuturesUnordered<internal::AbortOnDrop<T>> tasks_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] JoinSet<T>::JoinNext {
 public:
  using Output = std::conditional_t<std::is_void_v<T>, bool, std::optional<stored_t<T>>>;

  explicit JoinNext(JoinSet& set) noexcept : set_(&set) {}

  [[nodiscard]] bool borrows() const noexcept { return true; }
  Poll<Output> poll(Context& cx) {
    auto next = set_->tasks_.poll_next(cx);
    if (next.is_pending()) return pending;
    std::optional<JoinHandle<T>> done = std::move(next).value();
    if (!done) return Poll<Output>::ready(Output());
    if constexpr (std::is_void_v<T>) {
      (void)done->take();
      return Poll<Output>::ready(true);
    } else if constexpr (std::is_reference_v<T>) {
      return Poll<Output>::ready(&done->take().value());
    } else {
      return Poll<Output>::ready(done->take().value());
    }
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinNext, "join_set", one, &JoinNext::set_)

 private:
  JoinSet* set_;
};

/// What JoinSet::join_next_with_id gives: see there.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] JoinSet<
    T>::JoinNextWithId {
 public:
  using Output = std::optional<JoinHandle<T>>;

  explicit JoinNextWithId(JoinSet& set) noexcept : set_(&set) {}

  [[nodiscard]] bool borrows() const noexcept { return true; }
  Poll<Output> poll(Context& cx) { return set_->tasks_.poll_next(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinNextWithId, "join_set", one, &JoinNextWithId::set_)

 private:
  JoinSet* set_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] JoinSet<T>::Shutdown {
 public:
  using Output = void;

  explicit Shutdown(JoinSet& set) noexcept : set_(&set) {}

  [[nodiscard]] bool borrows() const noexcept { return true; }
  Poll<void> poll(Context& cx) {
    if (!std::exchange(aborted_, true)) set_->abort_all();
    while (!set_->empty()) {
      if (!drop_next(cx)) return pending;
    }
    return Poll<void>::ready();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Shutdown, "join_set", one, &Shutdown::set_)

 private:
  bool drop_next(Context& cx) {
    try {
      return JoinNext(*set_).poll(cx).is_ready();
    } catch (...) {
      return true;  // it has ended
    }
  }

  JoinSet* set_;
  bool aborted_ = false;
};

}  // namespace rouse
