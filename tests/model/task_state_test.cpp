// Models of a task's state word under a scheduler with many threads: wakes against polls. The task
// here is a counter of what was published before its wakes; the scheduler is one thread that spins
// on a one-place queue.
#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/task/task_transitions.hpp"

namespace rouse::model {

using namespace internal;
namespace {

class Task {
 public:
  SharedTaskState state() { return SharedTaskState(word_); }

  void wake(int bit) {
    published_.fetch_or(bit, memory_order_relaxed);
    if (state().wake(false) == SharedTaskState::Woken::enqueue) enqueue();
  }
  void enqueue() {
    // ORDER: release; as a run queue publishes a task.
    ensure(!queued_.exchange(true, memory_order_release), "a task is in one queue at most");
  }
  /// Runs the task until it has seen all of `bits`.
  void run_until_seen(int bits) {
    for (;;) {
      // ORDER: acquire; as a run queue does.
      while (!queued_.exchange(false, memory_order_acquire)) spin_hint();
      if (state().start_poll() == NextPoll::poll) polls_.write() += 1;
      if ((published_.load(memory_order_relaxed) & bits) == bits) break;
      if (state().end_poll(0)) enqueue();
    }
    state().finish(0);
  }

 private:
  TaskState word_;
  atomic<int> published_{0};
  atomic<bool> queued_{true};  // as it is born
  Cell<int> polls_{0};         // the future: one polls at a time
};

TEST(TaskStateModel, AWakeIsSeenByAPoll) {
  check(
      [] {
        Task task;
        Thread waker([&] { task.wake(1); });
        task.run_until_seen(1);
        waker.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(TaskStateModel, OfTwoWakesAlsoTheOneThatFindsTheTaskNotifiedPublishes) {
  check([] {
    Task task;
    Thread first([&] { task.wake(1); });
    Thread second([&] { task.wake(2); });
    task.run_until_seen(3);
    first.join();
    second.join();
  });
}

TEST(TaskStateModel, TheOutcomeIsPublishedToTheJoiner) {
  check(
      [] {
        TaskState word;
        Cell<int> outcome{0};
        Thread worker([&] {
          outcome.write() = 42;
          SharedTaskState(word).finish(0);
        });
        if (word.is_complete()) ensure(outcome.read() == 42, "the outcome");
        worker.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(TaskStateModel, TheJoinWakerIsTakenByOneOfTheTwo) {
  check(
      [] {
        TaskState word;
        Cell<int> join_waker{0};
        int woken = 0;
        Thread worker([&] {
          if (SharedTaskState(word).finish(0).has_join_waker) woken = join_waker.read();
        });
        SharedTaskState handle(word);
        join_waker.write() = 1;
        const bool is_published = handle.publish_join_waker();
        // A poll with another waker: back with the old one first.
        if (is_published && handle.retract_join_waker()) {
          join_waker.write() = 2;
          handle.publish_join_waker();
        }
        worker.join();
        ensure(!is_published || word.is_complete(), "it ended");
        ensure(woken != 1 || is_published, "a waker that was not published is not woken");
      },
      {.preemption_bound = Options::unbounded});
}

/// A task with two references, the scheduler's and the handle's.
class TwoOwners {
 public:
  SharedTaskState state() { return SharedTaskState(word_); }
  bool is_complete() const { return word_.is_complete(); }
  void read_outcome() const { ensure(future_.read() == 1, "not freed yet"); }
  void drop() {
    if (state().drop_ref()) free();
  }
  /// As the owner of a waker, who wakes it.
  void wake_and_drop() {
    if (state().wake(true) == SharedTaskState::Woken::free) free();
  }
  /// What a scheduler does.
  void complete() {
    future_.write() = 1;
    const SharedTaskState::Finished finished = state().finish(0);
    if (finished.has_joiner && !finished.has_join_waker) return;
    read_outcome();
    drop();
  }
  void ensure_freed() const { ensure(freed_.load(memory_order_relaxed) == 1, "freed once"); }

 private:
  void free() {
    future_.write() = -1;  // nobody reads it any more
    freed_.fetch_add(1, memory_order_relaxed);
  }

  TaskState word_;
  Cell<int> future_{0};
  atomic<int> freed_{0};
};

TEST(TaskStateModel, TheLastOwnerFreesTheTask) {
  check(
      [] {
        TwoOwners task;
        Thread scheduler([&] { task.complete(); });
        if (!task.state().drop_join_interest()) task.read_outcome();
        task.drop();
        scheduler.join();
        task.ensure_freed();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(TaskStateModel, TheLastOwnerMayBeAWakerThatIsWoken) {
  check(
      [] {
        TwoOwners task;
        Thread scheduler([&] { task.complete(); });
        if (!task.state().drop_join_interest()) task.read_outcome();
        task.wake_and_drop();
        scheduler.join();
        task.ensure_freed();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(TaskStateModel, AJoinerThatDoesNotWaitYetIsLeftTheTask) {
  check(
      [] {
        TwoOwners task;
        Thread scheduler([&] { task.complete(); });
        if (task.state().publish_join_waker()) {
          while (!task.is_complete()) spin_hint();
        } else {
          ensure(task.is_complete());
        }
        task.read_outcome();
        task.drop();
        scheduler.join();
        task.ensure_freed();
      },
      {.preemption_bound = Options::unbounded});
}

}  // namespace
}  // namespace rouse::model
