// JoinSet<T>: tasks that belong together. They are joined in the order in which they end; those
// that are left are aborted when the set goes.
//
//   JoinSet<Page> pages;
//   for (const Url& url : urls) pages.spawn(fetch, url);
//   while (auto page = co_await pages.join_next()) use(*page);
//
// A completion costs O(1), however many tasks there are (future/futures_unordered.hpp).
// Not thread-safe: one task uses it at a time; the tasks in it run wherever they were spawned.
// It may be moved, but not while somebody awaits join_next or shutdown.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/futures_unordered.hpp"

namespace rouse {

/// A JoinHandle that aborts its task when it is dropped before the join.
template <class T>
class [[nodiscard]] AbortOnDrop {
 public:
  using Output = T;

  explicit AbortOnDrop(JoinHandle<T> handle) noexcept : handle_(std::move(handle)) {}
  AbortOnDrop(AbortOnDrop&&) noexcept = default;
  AbortOnDrop& operator=(AbortOnDrop&&) = delete;
  ~AbortOnDrop() { handle_.abort(); }

  Poll<T> poll(Context& cx) { return handle_.poll(cx); }
  void abort() { handle_.abort(); }
  void detach() noexcept { handle_.detach(); }

 private:
  JoinHandle<T> handle_;
};

template <class T = void>
class [[nodiscard]] JoinSet {
 public:
  class JoinNext;
  class Shutdown;

  JoinSet() noexcept = default;

  /// Spawns on the executor whose task is running; the result is join_next's to give. Takes a
  /// function with arguments or a future: see exec/spawner.hpp.
  template <class F>
  TaskId spawn(F&& work, std::source_location where = std::source_location::current()) {
    return add(rouse::spawn(std::forward<F>(work), where));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  TaskId spawn(Fn&& fn, Arg&& arg, Args&&... args) {
    return add(
        rouse::spawn(std::forward<Fn>(fn), std::forward<Arg>(arg), std::forward<Args>(args)...));
  }

  /// The same on the executor of a Spawner.
  template <class F>
  TaskId spawn_on(const Spawner& spawner, F&& work,
                  std::source_location where = std::source_location::current()) {
    return add(spawner.spawn(std::forward<F>(work), where));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  TaskId spawn_on(const Spawner& spawner, Fn&& fn, Arg&& arg, Args&&... args) {
    return add(
        spawner.spawn(std::forward<Fn>(fn), std::forward<Arg>(arg), std::forward<Args>(args)...));
  }

  /// The same on the LocalExecutor or LocalSet that this thread is running.
  template <class F>
  TaskId spawn_local(F&& work, std::source_location where = std::source_location::current()) {
    return add(rouse::spawn_local(std::forward<F>(work), where));
  }
  template <class Fn, class Arg, class... Args>
    requires(!std::same_as<std::remove_cvref_t<Arg>, std::source_location>)
  TaskId spawn_local(Fn&& fn, Arg&& arg, Args&&... args) {
    return add(rouse::spawn_local(std::forward<Fn>(fn), std::forward<Arg>(arg),
                                  std::forward<Args>(args)...));
  }

  /// Takes in a task that was spawned before, by a task::Builder for example.
  template <class U>
  TaskId add(JoinHandle<U> handle) {
    static_assert(std::same_as<U, T>,
                  "JoinSet<T>: all its tasks give a T, and this one gives something else");
    const TaskId id = handle.id();
    tasks_.push(AbortOnDrop<T>(std::move(handle)));
    return id;
  }

  /// Completes when a task of the set is done: with its result (true if T is void), throwing what
  /// the task threw, or JoinError if it was cancelled. With nothing (false) once the set is empty.
  /// Dropped midway, it loses nothing. Borrows the set.
  [[nodiscard]] JoinNext join_next() noexcept { return JoinNext(*this); }

  /// Asks all tasks to end. They stay in the set, and join_next throws JoinError for each that was
  /// not done before.
  void abort_all() {
    tasks_.for_each([](AbortOnDrop<T>& task) { task.abort(); });
  }
  /// Lets all tasks run on by themselves. The set is empty then.
  void detach_all() noexcept {
    tasks_.for_each([](AbortOnDrop<T>& task) { task.detach(); });
    tasks_.clear();
  }
  /// Aborts all tasks and completes when they have ended; the set is empty then. Results, and what
  /// the tasks threw, are dropped. Dropped midway: the tasks that are left are aborted and still in
  /// the set. Borrows the set.
  [[nodiscard]] Shutdown shutdown() noexcept { return Shutdown(*this); }

  /// Tasks that were not joined yet, done or not.
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }

 private:
  FuturesUnordered<AbortOnDrop<T>> tasks_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] JoinSet<T>::JoinNext {
 public:
  using Output = std::conditional_t<std::is_void_v<T>, bool, std::optional<stored_t<T>>>;

  explicit JoinNext(JoinSet& set) noexcept : set_(set) {}

  [[nodiscard]] bool borrows() const noexcept { return true; }
  Poll<Output> poll(Context& cx) {
    auto next = set_.tasks_.poll_next(cx);
    if constexpr (std::is_void_v<T>) {
      if (next.is_pending()) return pending;
      return Poll<bool>::ready(std::move(next).value().has_value());
    } else {
      return next;
    }
  }

 private:
  JoinSet& set_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] JoinSet<T>::Shutdown {
 public:
  using Output = void;

  explicit Shutdown(JoinSet& set) noexcept : set_(set) {}

  [[nodiscard]] bool borrows() const noexcept { return true; }
  Poll<void> poll(Context& cx) {
    if (!std::exchange(aborted_, true)) set_.abort_all();
    while (!set_.empty()) {
      if (!drop_next(cx)) return pending;
    }
    return Poll<void>::ready();
  }

 private:
  bool drop_next(Context& cx) {
    try {
      return set_.tasks_.poll_next(cx).is_ready();
    } catch (...) {
      return true;  // it has ended
    }
  }

  JoinSet& set_;
  bool aborted_ = false;
};

}  // namespace rouse
