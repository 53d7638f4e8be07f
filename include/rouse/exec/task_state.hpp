// The state word of a task.
//
//            wake               start_poll: polled, pending
//   idle -------------> queued -----------------------------> idle
//                        |  ^                                  |
//                        |  '--------- wake while polled ------'   (queued again at once)
//                        |
//                        | start_poll: polled, ready (or cancelled)
//                        v
//                     complete
//
// | bit           | set by                        | cleared by         |
// | ------------- | ----------------------------- | ------------------ |
// | queued        | at birth, wake, cancel        | start_poll         |
// | complete      | finish: publishes the outcome | never              |
// | cancelled     | cancel                        | never              |
// | join_interest | at birth                      | drop_join_interest |
// | the rest      | number of owners: the scheduler, the JoinHandle, wakers |
//
// A queued task is in the run queue exactly once. The scheduler owns it until it is complete and
// no longer queued: a task that was woken in its last poll is still in the run queue then.
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

  /// True: put the task on the run queue.
  bool wake() noexcept { return queue(0); }
  /// The task is to end instead of being polled again. True: put it on the run queue for that.
  bool cancel() noexcept { return queue(cancelled); }

  enum class Next : std::uint8_t { poll, cancel, forget };
  /// The task was taken from the run queue: what is to be done with it.
  Next start_poll() noexcept {
    const std::uint32_t word = get();
    set(word & ~queued);
    if ((word & (complete | cancelled)) == 0) [[likely]]
      return Next::poll;
    return word & complete ? Next::forget : Next::cancel;
  }

  class Finished {
   public:
    Finished(bool joinable, bool in_queue) noexcept : has_joiner(joinable), is_queued(in_queue) {}
    bool has_joiner;  ///< a JoinHandle is still interested in the outcome
    bool is_queued;   ///< the task is in the run queue: the scheduler owns it until it comes out
  };
  /// The outcome is in its place.
  Finished finish() noexcept {
    const std::uint32_t word = get();
    // ORDER: release; publishes the outcome to a JoinHandle on another thread.
    word_.store(word | complete, memory_order_release);
    return Finished((word & join_interest) != 0, (word & queued) != 0);
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
  static constexpr std::uint32_t queued = 1;
  static constexpr std::uint32_t complete = 2;
  static constexpr std::uint32_t cancelled = 4;
  static constexpr std::uint32_t join_interest = 8;
  static constexpr int owner_shift = 4;

  bool queue(std::uint32_t also) noexcept {
    const std::uint32_t word = get();
    if (word & complete) return false;
    set(word | queued | also);
    return (word & queued) == 0;
  }

  std::uint32_t get() const noexcept { return word_.load(memory_order_relaxed); }
  void set(std::uint32_t word) noexcept { word_.store(word, memory_order_relaxed); }

  // Born on its way to the run queue, with two owners: its scheduler and its JoinHandle.
  atomic<std::uint32_t> word_{queued | join_interest | (2U << owner_shift)};
};

}  // namespace rouse
