// The transitions of a task: every change that its state word can make (task_state.hpp).
//
//            wake               start_poll: polled, pending
//   idle -------------> active -----------------------------> idle
//                        |  ^                                  |
//                        |  '--------- wake while polled ------'   (queued again at once)
//                        |
//                        | start_poll: polled, ready (or cancelled)
//                        v
//                     complete
//
// | bit           | set by                            | cleared by                    |
// | ------------- | --------------------------------- | ----------------------------- |
// | active        | at birth, wake, cancel            | start_poll, end_poll          |
// | notified      | wake and cancel of an active task | start_poll, end_poll          |
// | complete      | finish: publishes the outcome     | never                         |
// | cancelled     | cancel                            | never                         |
// | join_interest | at birth                          | drop_join_interest            |
// | join_waker    | publish_join_waker                | retract_join_waker            |
// | away          | go_away                           | come_back, end_poll, finish   |
// | held          | hold, by an examiner              | let_go                        |
// | deferred      | start_poll of a held task         | let_go                        |
// | the rest      | references:       the scheduler, the JoinHandle, wakers           |
//
// Two kinds of scheduler make the transitions in two ways:
//
//  - `LocalTaskState`, of a LocalExecutor: one thread, the task's owner, makes them all, with plain
//    loads and stores; other threads post what they want to it (src/exec/local/local_core.hpp).
//    There `active` means queued, and a task that wakes itself is queued while it is polled.
//  - `SharedTaskState`, of a scheduler with many threads: anybody may wake and cancel it, add and
//    drop references, with one read-modify-write each. There `active` means queued or being polled:
//    whoever set it put the task on a queue, and whoever takes it from there polls it and clears
//    the bit, so no two threads poll at once. `notified` asks for one poll more. `away`: the thread
//    that polls or cancels the task has no worker for now. Only that thread sets and clears it; the
//    pool's sweep leaves the task to it (src/exec/pool/pool_core.hpp). `held`: somebody looks at
//    the task, so nobody begins to poll it; who would have done so leaves it to the examiner, by
//    `deferred` (src/exec/pool/examination.hpp).
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/exec/internal/task_state.hpp"

namespace rouse::internal {

inline constexpr int ref_shift = 9;
constexpr std::int64_t refs_of(TaskState::Word word) noexcept {
  return static_cast<std::int64_t>(word) >> ref_shift;
}
static_assert(refs_of(TaskState::one_ref) == 1);

/// What is to be done with a task that was taken from a run queue.
enum class NextPoll : std::uint8_t { poll, cancel, skip };

/// The transitions that a task's owner thread makes, for itself and for others.
class LocalTaskState {
  using Word = TaskState::Word;
  using enum TaskState::Bits;

 public:
  explicit LocalTaskState(TaskState& state) noexcept : word_(state.word) {}

  /// True: put the task on the run queue.
  bool wake() noexcept { return queue(0); }
  /// The task is to end instead of being polled again. True: put it on the run queue for that.
  bool cancel() noexcept { return queue(cancelled); }

  /// The task was taken from the run queue. `skip`: it was woken in its last poll.
  NextPoll start_poll() noexcept {
    const Word word = get();
    set(word & ~active);
    if ((word & (complete | cancelled)) == 0) [[likely]]
      return NextPoll::poll;
    return word & complete ? NextPoll::skip : NextPoll::cancel;
  }

  class Finished {
   public:
    Finished(bool joinable, bool in_queue) noexcept : has_joiner(joinable), is_queued(in_queue) {}
    bool has_joiner;  ///< a JoinHandle is still interested in the outcome
    bool is_queued;   ///< the task is in the run queue: the scheduler owns it until it comes out
  };
  /// The outcome is in its place.
  Finished finish() noexcept {
    const Word word = get();
    set(word | complete);
    return Finished((word & join_interest) != 0, (word & active) != 0);
  }
  /// The JoinHandle is gone. True: the task is complete, its outcome is to be dropped.
  bool drop_join_interest() noexcept {
    const Word word = get();
    set(word & ~join_interest);
    return (word & complete) != 0;
  }

  /// References come and go on other threads, too, counted elsewhere until the owner adds
  /// them here: so this count alone may be zero, or less, while there are references.
  std::int64_t refs() const noexcept { return refs_of(get()); }
  /// Gives the new count.
  std::int64_t add_refs(std::int64_t n) noexcept {
    const Word word = get() + (static_cast<Word>(n) << ref_shift);
    set(word);
    return refs_of(word);
  }

 private:
  bool queue(Word also) noexcept {
    const Word word = get();
    if (word & complete) return false;
    set(word | active | also);
    return (word & active) == 0;
  }

  Word get() const noexcept { return word_.load(memory_order_relaxed); }
  // ORDER: release; publishes the outcome to a JoinHandle on another thread. Also what is stored
  // after `finish` has to: a relaxed store would hide the release before it.
  void set(Word word) noexcept { word_.store(word, memory_order_release); }

  atomic<Word>& word_;
};

/// The transitions of a task that any thread may wake and, one at a time, poll.
///
/// The thread that polls a task counts the wakers made and dropped in that poll by itself and adds
/// them at the poll's end. So until then the count may be too small, even below zero: it says
/// something only once the task is complete. Until then the scheduler owns the task.
class SharedTaskState {
  using Word = TaskState::Word;
  using enum TaskState::Bits;

 public:
  explicit SharedTaskState(TaskState& state) noexcept : word_(state.word) {}

  enum class Woken : std::uint8_t {
    nothing,  ///< it was active or complete
    enqueue,  ///< the caller puts it on a queue
    free,     ///< it was complete and the last reference is gone: the caller frees it
  };
  /// Any thread. Asks for a poll; with `and_drop` the caller's waker is given up: then, until the
  /// task is polled or swept away by its scheduler, only the latter keeps it.
  Woken wake(bool and_drop) noexcept { return activate(0, and_drop ? Word{one_ref} : Word{0}); }
  /// Any thread. Asks for the end.
  bool cancel() noexcept { return activate(cancelled, 0) == Woken::enqueue; }

  /// By whoever took the task from a queue. No read-modify-write, unless it was woken meanwhile.
  /// `skip`: it is held, and the caller is rid of it.
  NextPoll start_poll() noexcept {
    // ORDER: acquire; sees what the poll before did, and what was written before the wakes that it
    // left for this one; and what an examiner read before it let go comes before this poll.
    const Word word = word_.load(memory_order_acquire);
    if ((word & (notified | cancelled | held)) == 0) [[likely]]
      return NextPoll::poll;
    return start_unusual_poll(word_, word);
  }

  /// The poll gave pending; `new_refs` wakers came of it. True: it was woken meanwhile and stays
  /// active: the caller puts it on a queue.
  bool end_poll(std::int64_t new_refs) noexcept {
    Word word = word_.load(memory_order_relaxed);
    Word next = 0;
    do {
      next =
          (word & notified ? word & ~(notified | away) : word & ~(active | away)) + refs(new_refs);
      // ORDER: release; publishes the future to whoever polls it next, in `start_poll`: who sees
      // there, too, what the waker wrote that notified it.
    } while (!word_.compare_exchange_weak(word, next, memory_order_release, memory_order_relaxed));
    return (word & notified) != 0;
  }

  /// The poll gave pending and the task woke itself: it stays active. Only wakers are counted.
  void end_poll_active(std::int64_t new_refs) noexcept { add_refs(new_refs); }

  // --- By the thread that polls or cancels the task. ORDER: relaxed; whoever sweeps comes to the
  // task through the pool's lock. ---

  void go_away() noexcept { word_.fetch_or(away, memory_order_relaxed); }
  /// ORDER: release; an examiner that does not find it away sees what was done until now.
  void come_back() noexcept { word_.fetch_and(~Word{away}, memory_order_release); }
  /// Also by whoever sweeps.
  bool is_away() const noexcept { return (word_.load(memory_order_relaxed) & away) != 0; }

  class Finished {
   public:
    Finished(bool joinable, bool watched) noexcept
        : has_joiner(joinable), has_join_waker(watched) {}
    bool has_joiner;      ///< a JoinHandle is still interested in the outcome
    bool has_join_waker;  ///< and waits for it: the caller takes and wakes `join_waker`
  };
  /// The outcome is in its place. The scheduler still has its reference, unless there is a joiner
  /// that does not wait yet: all that is left to do is the joiner's then, and so is the task.
  Finished finish(std::int64_t new_refs) noexcept {
    Word word = word_.load(memory_order_relaxed);
    Word next = 0;
    do {
      next = ((word | complete) & ~(active | notified | away)) + refs(new_refs);
      if ((word & (join_interest | join_waker)) == join_interest) next -= one_ref;
      // ORDER: release; publishes the outcome to the JoinHandle. acquire; sees its join_waker.
    } while (!word_.compare_exchange_weak(word, next, memory_order_acq_rel, memory_order_relaxed));
    return Finished((word & join_interest) != 0, (word & join_waker) != 0);
  }

  // --- An examiner's, one at a time: see src/exec/pool/examination.hpp. ---

  /// Nobody begins to poll the task from now on. Gives the word before that.
  /// ORDER: acquire; sees what the last poll did, if it is idle.
  Word hold() noexcept { return word_.fetch_or(held, memory_order_acquire); }
  /// True: the caller puts it on a queue, as somebody else would have polled it meanwhile.
  /// ORDER: release; what was read comes before the next poll.
  bool let_go() noexcept {
    return (word_.fetch_and(~Word{held | deferred}, memory_order_release) & deferred) != 0;
  }
  /// ORDER: acquire; as in `hold`, if a poll that was under way then has ended.
  Word look() const noexcept { return word_.load(memory_order_acquire); }

  // --- The JoinHandle's. The field `join_waker` is its own while the bit is clear; while the bit
  // is set nobody touches the field, until `finish`, who then owns it. ---

  /// Whether the field is in use: to be retracted before it is changed. Only the handle sets it.
  bool has_join_waker() const noexcept {
    return (word_.load(memory_order_relaxed) & join_waker) != 0;
  }
  /// The field is filled. False: the task is complete, nobody will look at the field.
  bool publish_join_waker() noexcept {
    Word word = word_.load(memory_order_relaxed);
    do {
      if (word & complete) return false;
      // ORDER: release; publishes the field to `finish`.
    } while (!word_.compare_exchange_weak(word, word | join_waker, memory_order_release,
                                          memory_order_relaxed));
    return true;
  }
  /// False: the task is complete, the field belongs to whoever completed it.
  bool retract_join_waker() noexcept { return clear_unless_complete(join_waker); }
  /// The handle is gone and takes its waker back. False: the task is complete, its outcome is the
  /// handle's to drop.
  bool drop_join_interest() noexcept { return clear_unless_complete(join_interest | join_waker); }

  /// Any thread that has a waker, outside of the task's own poll.
  void add_ref() noexcept { add_refs(1); }
  /// True: the task is complete and this was the last reference.
  bool drop_ref() noexcept {
    const Word alone = complete | one_ref;
    // ORDER: acquire; as below. Alone with a complete task: nobody else can get a reference.
    if ((word_.load(memory_order_acquire) & ~(cancelled | join_interest | join_waker)) == alone)
      return true;
    // ORDER: release; what was done through it comes before the task is freed. acquire; the last
    // one frees after all others.
    const Word word = word_.fetch_sub(one_ref, memory_order_acq_rel);
    return (word & complete) != 0 && refs_of(word) == 1;
  }

 private:
  /// Static: so `this` of who calls it need not be in memory.
  [[gnu::noinline, gnu::cold]] static NextPoll start_unusual_poll(atomic<Word>& shared,
                                                                  Word word) noexcept {
    while (word & held) {
      // ORDER: release; hands on to who polls it next what came with the task.
      if (shared.compare_exchange_weak(word, word | deferred, memory_order_release,
                                       memory_order_relaxed))
        return NextPoll::skip;
    }
    // ORDER: acquire; sees what was written before the wakes that this poll answers.
    word = shared.fetch_and(~Word{notified}, memory_order_acquire);
    return word & cancelled ? NextPoll::cancel : NextPoll::poll;
  }

  static Word refs(std::int64_t n) noexcept { return static_cast<Word>(n) << ref_shift; }
  // ORDER: relaxed; whoever adds a reference has one already, nothing is published.
  void add_refs(std::int64_t n) noexcept {
    if (n != 0) word_.fetch_add(refs(n), memory_order_relaxed);
  }

  Woken activate(Word also, Word dropped) noexcept {
    Word word = word_.load(memory_order_relaxed);
    Word next = 0;
    do {
      next = word - dropped;
      if ((word & complete) == 0) {
        next |= also | (word & active ? notified : active);
      } else if (dropped == 0) {
        return Woken::nothing;
      }
      // ORDER: release, also if nothing changes; publishes what the caller wrote to the poll that
      // answers. acquire; if it frees, after all others.
    } while (!word_.compare_exchange_weak(word, next, memory_order_acq_rel, memory_order_relaxed));
    if (word & complete) return refs_of(next) == 0 ? Woken::free : Woken::nothing;
    return word & active ? Woken::nothing : Woken::enqueue;
  }

  bool clear_unless_complete(Word bits) noexcept {
    Word word = word_.load(memory_order_relaxed);
    do {
      if (word & complete) {
        // ORDER: acquire; sees the outcome.
        (void)word_.load(memory_order_acquire);
        return false;
      }
      // ORDER: relaxed; nobody but the handle has touched the field, nothing is published.
    } while (!word_.compare_exchange_weak(word, word & ~bits, memory_order_relaxed,
                                          memory_order_relaxed));
    return true;
  }

  atomic<Word>& word_;
};

/// What other threads posted about a task of a LocalExecutor, in one byte. Written under the inbox
/// lock only; the owner reads `is_touched` without it.
class InboxMarks {
 public:
  static constexpr std::uint8_t messages = 0x1f;

  explicit InboxMarks(atomic<std::uint8_t>& bits) noexcept : bits_(bits) {}

  bool is_touched() const noexcept { return (get() & touched) != 0; }
  bool is_queued() const noexcept { return (get() & queued) != 0; }
  /// Under the lock.
  bool has(std::uint8_t message) const noexcept { return (get() & message) != 0; }
  void touch(std::uint8_t added) noexcept { set(get() | touched | added); }
  void mark_queued() noexcept { set(get() | queued); }
  /// Gives the messages.
  std::uint8_t clear() noexcept {
    const std::uint8_t had = get() & messages;
    set(0);
    return had;
  }

 private:
  static constexpr std::uint8_t touched = 0x20;  // an operation came from another thread
  static constexpr std::uint8_t queued = 0x40;
  std::uint8_t get() const noexcept { return bits_.load(memory_order_relaxed); }
  void set(int bits) noexcept {
    bits_.store(static_cast<std::uint8_t>(bits), memory_order_relaxed);
  }
  atomic<std::uint8_t>& bits_;
};

inline InboxMarks TaskHeader::inbox() noexcept { return InboxMarks(inbox_marks); }
inline LocalTaskState TaskHeader::local_state() noexcept { return LocalTaskState(state); }
inline SharedTaskState TaskHeader::shared_state() noexcept { return SharedTaskState(state); }

}  // namespace rouse::internal
