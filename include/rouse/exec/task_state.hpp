// The state word of a task.
//
//            wake                  start_poll               end_poll (not woken)
//   idle ------------> queued ------------------> running ------------------------> idle
//                        ^                          |  |
//                        | end_poll (woken          |  | finish
//                        |  while it ran)           |  v
//                        '--------------------------'  complete
//
// | bit           | set by                        | cleared by             |
// | ------------- | ----------------------------- | ---------------------- |
// | running       | start_poll                    | end_poll, finish       |
// | notified      | at birth, wake, cancel        | start_poll             |
// | complete      | finish: publishes the outcome | never                  |
// | cancelled     | cancel                        | never                  |
// | join_interest | at birth                      | drop_join_interest     |
// | the rest      | number of owners: the scheduler until completion, the JoinHandle, wakers |
//
// All transitions are made by one thread, the task's owner, so they are plain loads and stores; the
// word is atomic because others read `complete`. What another thread wants of the task it posts to
// the owner (see src/exec/local_core.hpp).
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"

namespace rouse {

class TaskState {
 public:
  TaskState() = default;
  TaskState(const TaskState&) = delete;
  TaskState& operator=(const TaskState&) = delete;

  /// Any thread. ORDER: acquire; sees the outcome that `finish` published.
  bool is_complete() const noexcept { return (word_.load(memory_order_acquire) & complete) != 0; }

  // --- The owner's transitions. ---

  /// True: the task was idle, put it on the run queue.
  bool wake() noexcept {
    const std::uint32_t word = get();
    if (word & (notified | complete)) return false;
    set(word | notified);
    return (word & running) == 0;
  }
  /// The task was taken from the run queue. False: it was cancelled, end it instead.
  bool start_poll() noexcept {
    const std::uint32_t word = get();
    set((word | running) & ~notified);
    return (word & cancelled) == 0;
  }
  /// The poll gave pending. True: it was woken meanwhile, put it on the run queue again.
  bool end_poll() noexcept {
    const std::uint32_t word = get();
    set(word & ~running);
    return (word & notified) != 0;
  }
  /// The task is to end at its next suspension. True: put it on the run queue for that.
  bool cancel() noexcept {
    const std::uint32_t word = get();
    if (word & complete) return false;
    set(word | cancelled | notified);
    return (word & (running | notified)) == 0;
  }
  /// The outcome is in its place. True: a JoinHandle is still interested in it.
  bool finish() noexcept {
    const std::uint32_t word = (get() | complete) & ~running;
    // ORDER: release; publishes the outcome to a JoinHandle on another thread.
    word_.store(word, memory_order_release);
    return (word & join_interest) != 0;
  }
  /// The JoinHandle is gone. True: the task is complete, its outcome is to be dropped.
  bool drop_join_interest() noexcept {
    const std::uint32_t word = get();
    set(word & ~join_interest);
    return (word & complete) != 0;
  }

  /// Owners may come and go on other threads, which are counted elsewhere until the owner adds
  /// them here: so this count alone may be zero, or less, while there are owners.
  std::int32_t owners() const noexcept { return static_cast<std::int32_t>(get()) >> owner_shift; }
  /// Gives the new count.
  std::int32_t add_owners(std::int32_t n) noexcept {
    const std::uint32_t word = get() + (static_cast<std::uint32_t>(n) << owner_shift);
    set(word);
    return static_cast<std::int32_t>(word) >> owner_shift;
  }

 private:
  static constexpr std::uint32_t running = 1;
  static constexpr std::uint32_t notified = 2;
  static constexpr std::uint32_t complete = 4;
  static constexpr std::uint32_t cancelled = 8;
  static constexpr std::uint32_t join_interest = 16;
  static constexpr int owner_shift = 5;

  std::uint32_t get() const noexcept { return word_.load(memory_order_relaxed); }
  void set(std::uint32_t word) noexcept { word_.store(word, memory_order_relaxed); }

  // Born on its way to the run queue, with two owners: its scheduler and its JoinHandle.
  atomic<std::uint32_t> word_{notified | join_interest | (2U << owner_shift)};
};

}  // namespace rouse
