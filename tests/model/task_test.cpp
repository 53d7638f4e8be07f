// Models of real tasks: poll, wake, abort, join and drop against each other. Nothing but the task's
// state orders them (tasks.hpp): two polls, a poll and the destruction of the future, the end and
// the join. The futures and results are made of cells, so an access that nothing orders is found,
// and a task that is freed early, late or twice.
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

/// What a test and its task share: two wakers, and who has arrived (bits; relaxed, so that a poll
/// sees an arrival only if the wake that came after it is ordered before the poll).
struct Shared {
  void arrive(int bit) { arrived.fetch_or(bit, memory_order_relaxed); }
  std::array<Waker, 2> wakers;
  atomic<int> arrived{0};
  bool ended = false;  // the future was destroyed
};

/// Ready with 42 once all of `bits` have arrived. Its first poll, before there are threads, leaves
/// two wakers.
class Arrival {
 public:
  using Output = Number;
  Arrival(Shared& shared, int bits) : shared_(shared), bits_(bits) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() {
    ensure(!shared_.ended, "a future is destroyed once");
    polls_.write() = -1;
    shared_.ended = true;
  }
  Poll<Number> poll(Context& cx) {
    if (polls_.write()++ == 0) {
      for (Waker& waker : shared_.wakers) waker = cx.waker();
    }
    if ((shared_.arrived.load(memory_order_relaxed) & bits_) != bits_) return pending;
    return Poll<Number>::ready(42);
  }

 private:
  Shared& shared_;
  const int bits_;
  Cell<int> polls_{0};
};

/// A task after its first poll, and its handle.
struct Started {
  explicit Started(int bits) : handle(scheduler.spawn<Arrival>(shared, bits)) {
    scheduler.run_mine();
  }
  /// Another thread that arrives, wakes, and runs what it has to.
  Thread waking(int bit) {
    return Thread([this, bit] {
      shared.arrive(bit);
      std::move(shared.wakers[static_cast<std::size_t>(bit - 1)]).wake();
      scheduler.run_mine();
    });
  }
  int join() {
    try {
      return block_on(handle).value();
    } catch (const JoinError&) {
      return -1;
    }
  }

  HandsOn scheduler;
  Shared shared;
  JoinHandle<Number> handle;
};

/// The task waits for `bits`: both wakes, or one, after which it may be complete at the other.
void join_and_wake_twice(int bits) {
  Started task(bits);
  Thread first = task.waking(1);
  Thread second = task.waking(2);
  ensure(task.join() == 42);
  first.join();
  second.join();
}

const Options everything{.preemption_bound = Options::unbounded};

TEST(TaskModel, AWakeIsAnsweredByAPollThatSeesWhatCameBefore) {
  check(
      [] {
        Started task(1);
        Thread other = task.waking(1);
        ensure(task.join() == 42);
        other.join();
        task.shared.wakers = {};
      },
      everything);
}

TEST(TaskModel, TwoWakesAreTwoPollsOrOneThatSeesBoth) {
  check([] { join_and_wake_twice(3); }, {.old_value_bound = 2});
}

TEST(TaskModel, AWakeWhileTheTaskIsPolledIsAnsweredByThePoller) {
  check([] {
    Started task(3);
    Thread other = task.waking(2);
    task.shared.arrive(1);
    task.shared.wakers[0].wake_by_ref();
    task.scheduler.run_mine();
    ensure(task.join() == 42);
    other.join();
    task.shared.wakers[0] = Waker();
  });
}

TEST(TaskModel, AnAbortAgainstAWakeEndsInOneOfTheTwo) {
  check([] {
    Started task(1);
    Thread other = task.waking(1);
    task.handle.abort();
    task.scheduler.run_mine();
    const int result = task.join();
    ensure(result == 42 || result == -1);
    other.join();
    task.shared.wakers = {};
    ensure(task.shared.ended);
  });
}

TEST(TaskModel, AnAbortOfATaskThatIsPolledWaitsForThePoll) {
  check([] {
    Started task(3);  // never ready
    Thread other = task.waking(1);
    task.handle.abort();
    task.scheduler.run_mine();
    ensure(task.join() == -1);
    other.join();
    task.shared.wakers = {};
  });
}

TEST(TaskModel, AHandleThatIsDroppedWhileTheTaskEndsLeavesNothingBehind) {
  check([] {
    Started task(1);
    Thread other = task.waking(1);
    task.handle.detach();
    other.join();
    task.shared.wakers = {};
    ensure(task.shared.ended);
  });
}

TEST(TaskModel, AnAbortAndADropOfTheHandleAgainstAWake) {
  check([] {
    Started task(1);
    Thread other = task.waking(1);
    task.handle.abort();
    task.handle.detach();
    task.scheduler.run_mine();
    other.join();
    task.shared.wakers = {};
    ensure(task.shared.ended);
  });
}

TEST(TaskModel, TheLastOfWakersAndHandleFreesTheTask) {
  check([] {
    Started task(1);
    Thread first = task.waking(1);
    Thread second([&] { const Waker dropped = std::move(task.shared.wakers[1]); });
    task.handle.detach();
    first.join();
    second.join();
  });
}

TEST(TaskModel, AWakeOfACompleteTaskDropsItsOwner) {
  check([] { join_and_wake_twice(1); }, {.old_value_bound = 2});
}

TEST(TaskModel, AWakerIsClonedWhileTheTaskEnds) {
  check([] {
    Started task(1);
    Thread first = task.waking(1);
    {
      const Waker copy = task.shared.wakers[1];
      task.shared.wakers[1] = Waker();
      copy.wake_by_ref();
      task.scheduler.run_mine();
    }
    task.handle.detach();
    first.join();
  });
}

/// Polls a handle with one waker after the other.
TEST(TaskModel, TheJoinerIsWokenByTheWakerOfItsLastPoll) {
  check([] {
    Started task(1);
    Thread other = task.waking(1);
    const RefPtr<ParkedThread> first = make_ref<ParkedThread>();
    const RefPtr<ParkedThread> last = make_ref<ParkedThread>();
    std::optional<Number> result;
    for (const RefPtr<ParkedThread>* thread : {&first, &last}) {
      const Waker waker = make_waker(*thread);
      Context cx(waker);
      if (auto poll = task.handle.poll(cx); poll.is_ready()) {
        result.emplace(std::move(poll).value());
        break;
      }
    }
    if (!result) {
      last->parker.park();
      ensure(task.join() == 42);
    }
    other.join();
    task.shared.wakers = {};
  });
}

TEST(TaskModel, AHandleThatWaitsIsDroppedWhileTheTaskEnds) {
  check([] {
    Started task(1);
    Thread other = task.waking(1);
    const RefPtr<ParkedThread> joiner = make_ref<ParkedThread>();
    const Waker waker = make_waker(joiner);
    Context cx(waker);
    if (task.handle.poll(cx).is_pending()) task.handle.detach();
    other.join();
    task.shared.wakers = {};
  });
}

TEST(TaskModel, AHandleAsksWhetherTheTaskIsDone) {
  check(
      [] {
        Started task(1);
        Thread other = task.waking(1);
        if (task.handle.is_finished()) ensure(task.join() == 42);
        other.join();
        task.shared.wakers = {};
        task.handle.detach();
      },
      everything);
}

/// Wakes itself in each poll until the other has arrived: it is never idle.
class Restless {
 public:
  using Output = Number;
  explicit Restless(Shared& shared) : shared_(shared) {}
  Poll<Number> poll(Context& cx) {
    polls_.write() += 1;
    if (polls_.read() == 1) shared_.wakers[0] = cx.waker();
    if (polls_.read() == 3) return Poll<Number>::ready(42);
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  Shared& shared_;
  Cell<int> polls_{0};
};

TEST(TaskModel, ATaskThatWakesItselfIsWokenAndAborted) {
  check([] {
    HandsOn scheduler;
    Shared shared;
    JoinHandle<Number> handle = scheduler.spawn<Restless>(shared);
    Thread other([&] {
      handle.abort();
      scheduler.run_mine();
    });
    scheduler.run_mine();
    other.join();
    ensure(handle.is_finished());
    handle.detach();
    shared.wakers = {};
  });
}

/// The other side of the end of an executor: a waker that is used while tasks are swept away.
TEST(TaskModel, ATaskIsSweptAwayWhileItsWakersAreUsed) {
  check([] {
    Started task(3);
    Thread other([&] { const Waker dropped = std::move(task.shared.wakers[0]); });
    task.scheduler.sweep();
    ensure(task.join() == -1);
    other.join();
    task.shared.wakers = {};
  });
}

}  // namespace
}  // namespace rouse::model
