#include "rouse/future/shared.hpp"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

using testing::PollHarness;

TEST(Shared, GivesEachCopyACopyOfTheOutput) {
  Gate<std::string> gate;
  const Shared original = shared(gate.future());
  PollHarness first{Shared(original)};
  PollHarness second{Shared(original)};
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  gate.open("text");
  gate.wake();
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(first.poll().value(), "text");
  EXPECT_EQ(gate.alive(), 0) << "destroyed when it is ready";
  EXPECT_EQ(second.poll().value(), "text");
  EXPECT_EQ(PollHarness(Shared(original)).poll().value(), "text") << "a copy that comes later";
  EXPECT_EQ(first.poll().value(), "text") << "and again";
}

TEST(Shared, WhoFindsItDoneWakesTheOthers) {
  Gate<int> gate;
  const Shared original = shared(gate.future());
  PollHarness waits{Shared(original)};
  EXPECT_TRUE(waits.poll().is_pending());
  gate.open(1);
  EXPECT_EQ(PollHarness(Shared(original)).poll().value(), 1);
  EXPECT_TRUE(waits.is_woken());
  EXPECT_EQ(waits.poll().value(), 1);
}

TEST(Shared, WakesTheLatestWakerOfEachCopy) {
  Gate<int> gate;
  const Shared original = shared(gate.future());
  PollHarness first{Shared(original)};
  PollHarness second{Shared(original)};
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  first.change_waker();
  EXPECT_TRUE(first.poll().is_pending());
  gate.wake();
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
}

TEST(Shared, ADroppedCopyLeavesTheOthersWaiting) {
  Gate<int> gate;
  std::optional<PollHarness<Shared<Gate<int>::Wait>>> first(std::in_place, shared(gate.future()));
  PollHarness second{Shared(first->future())};
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  first.reset();
  gate.open(2);
  gate.wake();
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(second.poll().value(), 2);
}

TEST(Shared, TheLastCopyDropsTheFutureThoughItsWakersLive) {
  Gate<int> gate;  // keeps each waker that it saw
  {
    PollHarness first(shared(gate.future()));
    PollHarness second{Shared(first.future())};
    EXPECT_TRUE(first.poll().is_pending());
    EXPECT_EQ(gate.alive(), 1);
  }
  EXPECT_EQ(gate.alive(), 0);
  gate.wake_all_kept();
}

/// A waker that looks at a Shared when it is dropped: so it must not be dropped under the lock.
class LooksWhenDropped : public RefCounted<LooksWhenDropped> {
 public:
  explicit LooksWhenDropped(Shared<Gate<int>::Wait> future) : future_(std::move(future)) {}
  ~LooksWhenDropped() {
    CountingWaker waker;
    (void)future_.poll(waker.cx);
  }
  void wake() {}

 private:
  Shared<Gate<int>::Wait> future_;
};

TEST(Shared, DropsWakersOutsideOfItsLock) {
  Gate<int> gate;
  const Shared original = shared(gate.future());
  Shared waits = original;
  const auto poll_with_another = [&] {
    const Waker waker = make_waker(make_ref<LooksWhenDropped>(original));
    Context cx(waker);
    return waits.poll(cx).is_ready();
  };
  EXPECT_FALSE(poll_with_another());
  EXPECT_FALSE(poll_with_another());
  gate.open(1);
  EXPECT_TRUE(poll_with_another());
}

TEST(Shared, AllCopiesThrowWhatTheFutureThrew) {
  Gate<int> gate;
  PollHarness first(shared(gate.future()));
  PollHarness second{Shared(first.future())};
  gate.fail("future");
  EXPECT_THROW((void)first.poll(), TestError);
  EXPECT_THROW((void)second.poll(), TestError);
  EXPECT_THROW((void)first.poll(), TestError);
}

TEST(Shared, AFutureThatWakesItselfIsPolledAgain) {
  const auto yields = []() -> Async<int> {
    for (int i = 0; i < 3; ++i) co_await yield_now();
    co_return 3;
  };
  const Shared original = shared(yields());
  EXPECT_EQ(block_on(join(Shared(original), Shared(original))), (std::tuple(3, 3)));
}

TEST(Shared, IsOfVoidAndOfReferences) {
  const Shared nothing = shared(ready());
  EXPECT_TRUE(PollHarness(Shared(nothing)).poll().is_ready());
  int x = 5;
  Gate<int&> gate;
  gate.open(&x);
  PollHarness lent(shared(gate.future()));
  EXPECT_EQ(&lent.poll().value(), &x);
}

TEST(Shared, BorrowsIfItsFutureDoes) {
  int x = 0;
  const auto owns = [](int y) -> Async<int> { co_return y; };
  const auto lends = [](int& y) -> Async<int> { co_return y; };
  EXPECT_FALSE(shared(owns(1)).borrows());
  const Shared borrowing = shared(lends(x));
  EXPECT_TRUE(Shared(borrowing).borrows());
}

Async<int> computes(std::shared_ptr<std::atomic<int>> calls) {
  calls->fetch_add(1);
  for (int i = 0; i < 20; ++i) co_await yield_now();
  co_return 42;
}
Async<int> awaits(Shared<Async<int>> value) {
  const int first = co_await Shared(value);
  co_return first + co_await std::move(value);
}

TEST(Shared, IsAwaitedByTasksOnAllThreads) {
  ThreadPool pool;
  for (int round = 0; round < 50; ++round) {
    const auto calls = std::make_shared<std::atomic<int>>(0);
    std::vector<JoinHandle<int>> tasks;
    {
      const Shared value = shared(computes(calls));
      for (int i = 0; i < 8; ++i) tasks.push_back(pool.spawn(awaits(value)));
    }
    tasks[3].abort();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i == 3) continue;
      EXPECT_EQ(block_on(std::move(tasks[i])), 84);
    }
    EXPECT_EQ(calls->load(), 1);
  }
}

TEST(Shared, KeepsTheContractsOfFutures) {
  Contracts(1, [](Gates& gates) { return shared(gates[0].future()); }).check();
}

TEST(SharedDeathTest, IsNotMovedAfterItsFirstPoll) {
  Gate<int> gate;
  Shared future = shared(gate.future());
  CountingWaker waker;
  EXPECT_TRUE(future.poll(waker.cx).is_pending());
  EXPECT_DEATH(static_cast<void>(decltype(future)(std::move(future))), "after its first poll");
}

TEST(SharedDeathTest, OneThatWasMovedFromIsNotCopied) {
  Gate<int> gate;
  Shared future = shared(gate.future());
  const Shared other(std::move(future));
  // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
  EXPECT_DEATH(static_cast<void>(Shared(future)), "moved from");
}

}  // namespace
}  // namespace rouse::test
