#include "rouse/sync/mutex.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/linearizability.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::Mutex;
using rouse::sync::MutexGuard;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

using LockInt = decltype(std::declval<Mutex<int>&>().lock());
static_assert(sizeof(LockInt) == 48);
static_assert(sizeof(MutexGuard<int>) == sizeof(void*));
static_assert(!std::is_aggregate_v<LockInt> && !std::is_copy_constructible_v<MutexGuard<int>>);

TEST(Mutex, TheGuardGivesTheValueAndUnlocksAtItsEnd) {
  Mutex<std::string> mutex("ab");
  {
    auto guard = mutex.try_lock();
    ASSERT_TRUE(guard);
    **guard += "c";
    EXPECT_EQ((*guard)->size(), 3U);
    EXPECT_FALSE(mutex.try_lock());
  }
  auto again = mutex.try_lock();
  ASSERT_TRUE(again);
  EXPECT_EQ(**again, "abc");
  again->unlock();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_EQ(mutex.get_mut(), "abc");
}

TEST(Mutex, AGuardThatIsMovedLocksOnce) {
  Mutex<int> mutex(1);
  MutexGuard<int> first = *mutex.try_lock();
  MutexGuard<int> second = std::move(first);
  EXPECT_FALSE(mutex.try_lock());
  second = std::move(second);
  *second = 2;
  second.unlock();
  second.unlock();
  EXPECT_EQ(**mutex.try_lock(), 2);
}

using WaitingHarness = PollHarness<LockInt>;

/// Both wait, in this order.
struct HeldAndTwoWait {
  HeldAndTwoWait() {
    EXPECT_TRUE(first->poll().is_pending());
    EXPECT_TRUE(second->poll().is_pending());
  }
  Mutex<int> mutex{0};
  std::optional<MutexGuard<int>> held = mutex.try_lock();
  std::optional<WaitingHarness> first{std::in_place, mutex.lock()};
  std::optional<WaitingHarness> second{std::in_place, mutex.lock()};
};

TEST(Mutex, WaitersAreWokenInTurnOneAtATime) {
  HeldAndTwoWait lock;
  lock.held.reset();
  EXPECT_TRUE(lock.first->is_woken());
  EXPECT_FALSE(lock.second->is_woken());
  {
    const auto guard = lock.first->poll();
    EXPECT_TRUE(guard.is_ready());
    EXPECT_FALSE(lock.second->is_woken());
  }
  EXPECT_TRUE(lock.second->is_woken());
  EXPECT_TRUE(lock.second->poll().is_ready());
}

TEST(Mutex, AFreeLockMayBeTakenBeforeTheWokenWaiterComes) {
  HeldAndTwoWait lock;
  lock.held.reset();
  lock.held = lock.mutex.try_lock();
  ASSERT_TRUE(lock.held) << "it is free until the first waiter is polled";
  EXPECT_TRUE(lock.first->is_woken());
  EXPECT_TRUE(lock.first->poll().is_pending());
  EXPECT_FALSE(lock.second->is_woken());
  lock.held.reset();
  EXPECT_TRUE(lock.first->is_woken()) << "it is the first again";
  EXPECT_FALSE(lock.second->is_woken());
  EXPECT_TRUE(lock.first->poll().is_ready());
  EXPECT_TRUE(lock.second->is_woken());
}

TEST(Mutex, NobodyElseIsWokenWhileOneIsOnItsWay) {
  HeldAndTwoWait lock;
  lock.held.reset();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(lock.mutex.try_lock());
    EXPECT_FALSE(lock.second->is_woken());
  }
  PollHarness third(lock.mutex.lock());
  EXPECT_TRUE(third.poll().is_ready()) << "nor has a newcomer to wait";
  EXPECT_TRUE(lock.first->poll().is_ready());
}

/// The lock is unlocked and taken by another one before the first waiter comes.
void let_first_lose(HeldAndTwoWait& lock) {
  lock.held.reset();
  lock.held = lock.mutex.try_lock();
  EXPECT_TRUE(lock.held && lock.first->is_woken());
  EXPECT_TRUE(lock.first->poll().is_pending());
}

TEST(Mutex, WhoWasWokenInVainIsHandedTheLock) {
  HeldAndTwoWait lock;
  let_first_lose(lock);
  lock.held.reset();
  EXPECT_FALSE(lock.mutex.try_lock()) << "it has an owner, who does not know it yet";
  PollHarness late(lock.mutex.lock());
  EXPECT_TRUE(late.poll().is_pending());
  EXPECT_TRUE(lock.first->is_woken());
  {
    const auto guard = lock.first->poll();
    EXPECT_TRUE(guard.is_ready());
    EXPECT_FALSE(lock.second->is_woken());
  }
  EXPECT_TRUE(lock.second->is_woken());
  EXPECT_TRUE(lock.mutex.try_lock()) << "the next one has lost no turn yet";
  EXPECT_TRUE(lock.second->poll().is_ready());
  EXPECT_TRUE(late.poll().is_ready());
}

TEST(Mutex, AWokenWaiterThatIsDroppedWakesTheNext) {
  HeldAndTwoWait lock;
  lock.held.reset();
  lock.first.reset();
  EXPECT_TRUE(lock.second->is_woken());
  EXPECT_TRUE(lock.second->poll().is_ready());
}

TEST(Mutex, IfAnotherOneHasTheLockByThenTheNextIsWokenAfterThat) {
  HeldAndTwoWait lock;
  lock.held.reset();
  lock.held = lock.mutex.try_lock();
  lock.first.reset();
  EXPECT_FALSE(lock.second->is_woken());
  lock.held.reset();
  EXPECT_TRUE(lock.second->is_woken());
  lock.second.reset();
  EXPECT_TRUE(lock.mutex.try_lock());
}

TEST(Mutex, AWaiterThatLeavesWhileAnotherIsOnItsWayIsNotMissed) {
  HeldAndTwoWait lock;
  lock.held.reset();
  lock.second.reset();
  EXPECT_TRUE(lock.mutex.try_lock());
  EXPECT_TRUE(lock.first->poll().is_ready());
  EXPECT_TRUE(lock.mutex.try_lock());
}

TEST(Mutex, WhoIsHandedTheLockAndDroppedPassesItOn) {
  HeldAndTwoWait lock;
  let_first_lose(lock);
  lock.held.reset();
  lock.first.reset();
  EXPECT_TRUE(lock.second->is_woken());
  EXPECT_TRUE(lock.second->poll().is_ready());
}

TEST(Mutex, AFutureThatLosesATurnIsDroppedAtEachPoll) {
  Mutex<int> mutex(0);
  std::optional<MutexGuard<int>> held;
  const auto report = drop_at_each_poll(
      [&] {
        held = mutex.try_lock();
        EXPECT_TRUE(held);
        return mutex.lock();
      },
      [&](std::size_t) {
        held.reset();
        held = mutex.try_lock();  // in vain if the future was handed the lock
      },
      [&](std::size_t k) {
        held.reset();
        EXPECT_TRUE(mutex.try_lock()) << k;
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Mutex, AFutureDroppedAtEachPollStrandsNotTheLock) {
  Mutex<int> mutex(0);
  std::optional<MutexGuard<int>> held;
  const auto report = drop_at_each_poll(
      [&] {
        held = mutex.try_lock();
        EXPECT_TRUE(held);
        return mutex.lock();
      },
      [&](std::size_t) { held.reset(); },
      [&](std::size_t k) {
        held.reset();
        EXPECT_TRUE(mutex.try_lock()) << k;
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Mutex, AnOwnedGuardKeepsTheMutexAlive) {
  auto mutex = std::make_shared<Mutex<int>>(3);
  const std::weak_ptr<Mutex<int>> watched = mutex;
  {
    PollHarness future(Mutex<int>::lock_owned(std::move(mutex)));
    auto guard = future.poll();
    ASSERT_TRUE(guard.is_ready());
    EXPECT_EQ(*guard.value(), 3);
    EXPECT_FALSE(Mutex<int>::try_lock_owned(watched.lock()));
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Mutex, AnOwnedFutureThatWaitsOrWasGivenTheLockMayBeTheLastOwner) {
  for (const bool handed_over : {false, true}) {
    auto mutex = std::make_shared<Mutex<int>>(3);
    auto held = Mutex<int>::try_lock_owned(mutex);
    PollHarness future(Mutex<int>::lock_owned(std::move(mutex)));
    EXPECT_TRUE(future.poll().is_pending());
    if (handed_over) held.reset();
  }
}

TEST(MutexDeathTest, AFutureIsNotPolledAfterItWasReady) {
  Mutex mutex(0);
  auto future = mutex.lock();
  Context cx(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_ready());
  EXPECT_DEATH((void)future.poll(cx), "polled again after it was ready");
}

TEST(Mutex, IsMadeOfItsValue) {
  Mutex<std::vector<int>> list(std::vector{1, 2});
  EXPECT_EQ(list.get_mut().size(), 2U);
  Mutex deduced(std::string("a"));
  EXPECT_EQ(deduced.get_mut(), "a");
}

TEST(Mutex, AWakerThatReEntersCausesNoDeadlock) {
  Mutex<int> mutex(0);
  ReentrantWaker waker([&] {
    (void)mutex.try_lock();
    Context cx(Waker::noop());
    auto dropped = mutex.lock();
    (void)dropped.poll(cx);
  });
  auto held = mutex.try_lock();
  auto future = mutex.lock();
  Context cx(waker.waker());
  Context other(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_pending());
  EXPECT_TRUE(future.poll(other).is_pending());
  EXPECT_TRUE(future.poll(cx).is_pending());
  held.reset();
  EXPECT_TRUE(future.poll(cx).is_ready());
  EXPECT_GT(waker.wakes(), 0);
}

TEST(MutexDeathTest, AGuardThatWasUnlockedGivesNothing) {
  Mutex<int> mutex(0);
  EXPECT_DEATH(
      {
        auto guard = mutex.try_lock();
        guard->unlock();
        **guard = 1;
      },
      "unlocked or moved from: lock again");
}

template <class Executor>
class MutexOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(MutexOn, AllExecutors, ExecutorNames);

Async<void> add(Mutex<long>& total, int times) {
  for (int i = 0; i < times; ++i) {
    auto guard = co_await total.lock();
    const long before = *guard;
    if (i % 4 == 0) co_await yield_now();  // the guard is held across it
    *guard = before + 1;
  }
}
TYPED_TEST(MutexOn, NoIncrementIsLost) {
  Mutex<long> total(0);
  const int times = sanitized ? 200 : 2000;
  for (int i = 0; i < 7; ++i) this->executor.spawn(add(total, times));
  this->executor.run(add(total, times));
  EXPECT_EQ(total.get_mut(), 8 * times);
}

Async<void> note_turns(Mutex<std::vector<int>>& turns, int me, int times) {
  for (int i = 0; i < times; ++i) {
    auto guard = co_await turns.lock();
    guard->push_back(me);
    co_await yield_now();
  }
}
/// The most turns that others had between two of one task.
std::ptrdiff_t longest_gap(const std::vector<int>& turns, int me) {
  std::ptrdiff_t longest = 0;
  auto last = std::ranges::find(turns, me);
  while (last != turns.end()) {
    const auto next = std::find(last + 1, turns.end(), me);
    if (next == turns.end()) break;
    longest = std::max(longest, next - last - 1);
    last = next;
  }
  return longest;
}
TEST(Mutex, OfTasksThatWantItAllTheTimeNoneStarves) {
  LocalExecutor executor;
  Mutex<std::vector<int>> turns;
  constexpr int tasks = 3;
  for (int i = 0; i < tasks; ++i) executor.spawn(borrowed(note_turns(turns, i, 100))).detach();
  executor.run();
  // It and each of those before it in the queue lose one turn at most.
  constexpr int bound = 2 * tasks - 1;
  for (int i = 0; i < tasks; ++i) EXPECT_LE(longest_gap(turns.get_mut(), i), bound) << i;
}

// Each thread has at most one future or guard. Whoever gets the lock counts.
enum class MutexCall : std::uint8_t { begin, poll, drop };
struct MutexOp {
  MutexCall call{};
  std::size_t thread = 0;
  friend void PrintTo(const MutexOp& op, std::ostream* out) {
    constexpr const char* names[] = {"begin", "poll", "drop"};
    *out << names[static_cast<std::size_t>(op.call)];
  }
};
struct MutexModel {
  using Op = MutexOp;
  using Result = int;  // how often it was locked before, if this got the lock; else -1

  Result apply(Op op) {
    const auto me = static_cast<int>(op.thread);
    const bool waits = std::ranges::find(queue, me) != queue.end();
    switch (op.call) {
      case MutexCall::begin:
        if (waits || woken == me || holder == me) return poll(me);
        lost_turn[op.thread] = false;
        if (holder != -1) return queue.push_back(me), -1;
        holder = me;
        return poll(me);
      case MutexCall::poll:
        return poll(me);
      case MutexCall::drop:
        if (holder == me) {
          holder = -1;
          seen = false;
        } else if (woken == me) {
          woken = -1;
        } else {
          std::erase(queue, me);
        }
        serve();
        return -1;
    }
    return -1;
  }
  int poll(int me) {
    if (woken == me) {
      woken = -1;
      if (holder != -1) {
        lost_turn[static_cast<std::size_t>(me)] = true;
        queue.insert(queue.begin(), me);
        return -1;
      }
      holder = me;
    }
    if (holder != me || seen) return -1;
    seen = true;
    return locked++;
  }
  void serve() {
    if (holder != -1 || woken != -1 || queue.empty()) return;
    const int first = queue.front();
    queue.erase(queue.begin());
    (lost_turn[static_cast<std::size_t>(first)] ? holder : woken) = first;
  }
  auto operator<=>(const MutexModel&) const = default;
  int holder = -1;
  bool seen = false;  // by the holder
  int woken = -1;
  int locked = 0;
  std::array<bool, 3> lost_turn{};
  std::vector<int> queue;
};
struct MutexAndFutures {
  Mutex<int> mutex{0};
  std::array<std::optional<LockInt>, 3> futures;
  std::array<std::optional<MutexGuard<int>>, 3> guards;

  int poll(std::size_t me) {
    if (!futures[me]) return -1;
    Context cx(Waker::noop());
    auto polled = futures[me]->poll(cx);
    if (polled.is_pending()) return -1;
    futures[me].reset();
    guards[me].emplace(std::move(polled).value());
    return (**guards[me])++;
  }
  int perform(MutexOp op) {
    const std::size_t me = op.thread;
    switch (op.call) {
      case MutexCall::begin:
        if (!futures[me] && !guards[me]) futures[me].emplace(mutex.lock());
        return poll(me);
      case MutexCall::poll:
        return poll(me);
      case MutexCall::drop:
        futures[me].reset();
        guards[me].reset();
        return -1;
    }
    return -1;
  }
};
TEST(Mutex, RandomHistoriesAreThoseOfTheSpecification) {
  const HistoryReport report = check_histories<MutexModel>(
      HistoryOptions(), [] { return MutexModel(); },
      [] { return std::make_unique<MutexAndFutures>(); },
      [](Random& random, std::size_t thread) {
        return MutexOp{static_cast<MutexCall>(random() / 7 % 3), thread};
      },
      [](MutexAndFutures& object, std::size_t, MutexOp op) { return object.perform(op); });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}

}  // namespace
