#include "rouse/future/futures_unordered.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/map.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

template <class T = int>
using Waits = FuturesUnordered<typename Gate<T>::Wait>;

TEST(FuturesUnordered, GivesOutputsInTheOrderOfCompletion) {
  CountingWaker waker;
  Gates gates(3);
  Waits<> set;
  for (auto& gate : gates) set.push(gate.future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  gates[2].open(2);
  gates[0].open(0);
  EXPECT_EQ(set.size(), 3U);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 2);
  EXPECT_EQ(gates[2].alive(), 0);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 0);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  gates[1].open(1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesUnordered, WithoutChildrenEndsAtOnceAndMayGrowAgain) {
  CountingWaker waker;
  FuturesUnordered<Ready<int>> set;
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
  set.push(ready(1));
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesUnordered, PollsOnlyTheChildrenThatWereWoken) {
  constexpr int count = 10'000;
  CountingWaker waker;
  Gates gates(count);
  Waits<> set;
  for (auto& gate : gates) set.push(gate.future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());

  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    gates[random() % count].wake();
    EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  }
  for (Gate<int>& gate : gates) {
    gate.open(1);
    EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  }
  int polls = 0;
  for (Gate<int>& gate : gates) polls += gate.polls();
  EXPECT_EQ(polls, count + 2 * count) << "children + wakes";
}

TEST(FuturesUnordered, WakesWhoeverWaitsWhenAChildIsPushed) {
  CountingWaker waker;
  Gates gates(2);
  Waits<> set;
  set.push(gates[0].future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  gates[1].open(5);
  set.push(gates[1].future());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 5);
}

TEST(FuturesUnordered, GivesUnitForVoidAndMoveOnlyOutputs) {
  CountingWaker waker;
  FuturesUnordered<Ready<void>> nothing;
  nothing.push(ready());
  EXPECT_EQ(nothing.poll_next(waker.cx).value(), Unit());
  FuturesUnordered<Ready<std::unique_ptr<int>>> pointers;
  pointers.push(ready(std::make_unique<int>(1)));
  EXPECT_EQ(**pointers.poll_next(waker.cx).value(), 1);
}

TEST(FuturesUnordered, ThrowsWhatAChildThrewAndGoesOnWithTheOthers) {
  CountingWaker waker;
  Gates gates(2);
  Waits<> set;
  for (auto& gate : gates) set.push(gate.future());
  gates[0].fail("first");
  EXPECT_THROW(static_cast<void>(set.poll_next(waker.cx)), TestError);
  EXPECT_EQ(gates[0].alive(), 0);
  EXPECT_EQ(set.size(), 1U);
  gates[1].open(2);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 2);
}

TEST(FuturesUnordered, EndsEachPollThoughAChildWakesItselfForEver) {
  CountingWaker waker;
  int polls = 0;
  auto restless = [&polls](Context& cx) -> Poll<void> {
    ++polls;
    cx.waker().wake_by_ref();
    return pending;
  };
  FuturesUnordered<PollFn<decltype(restless)>> set;
  set.push(poll_fn(restless));
  set.push(poll_fn(restless));
  for (int i = 1; i <= 10; ++i) {
    EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
    EXPECT_EQ(polls, 2 * i);
    EXPECT_GE(waker.wakes(), i);
  }
}

TEST(FuturesUnordered, PollsAgainAChildThatIsWokenDuringItsPoll) {
  CountingWaker waker;
  FuturesUnordered<YieldNow> set;
  set.push(yield_now());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), Unit());
}

TEST(FuturesUnordered, ForgetsAChildThatWasWokenWhileItFinished) {
  CountingWaker waker;
  auto finish = [](Context& cx) {
    cx.waker().wake_by_ref();
    return Poll<int>::ready(1);
  };
  FuturesUnordered<PollFn<decltype(finish)>> set;
  for (int i = 0; i < 3; ++i) {
    set.push(poll_fn(finish));
    set.push(poll_fn(finish));
    EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
    EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
    EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
  }
}

TEST(FuturesUnordered, MayBeMovedWhileItRuns) {
  CountingWaker waker;
  Gates gates(2);
  Waits<> set;
  set.push(gates[0].future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  Waits<> moved = std::move(set);
  set = Waits<>();
  set.push(gates[1].future());
  set = std::move(moved);
  EXPECT_EQ(gates[1].alive(), 0);
  gates[0].open(4);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 4);
}

TEST(FuturesUnordered, PollsNoChildInVainOnceTheBudgetIsUsedUp) {
  int polls = 0;
  FuturesUnordered<TakesAStep> set;
  for (int i = 0; i < 100; ++i) set.push(TakesAStep(polls));
  const CountingWaker waker;
  for (int left = 100; left > 0; left -= 10) {
    Context cx(waker.waker(), 10);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(set.poll_next(cx).is_ready());
    const int wakes = waker.wakes();
    if (left > 10) {
      ASSERT_TRUE(set.poll_next(cx).is_pending());
      ASSERT_EQ(waker.wakes(), wakes + 1);
    }
  }
  EXPECT_EQ(polls, 100);
}

TEST(FuturesUnordered, ForEachVisitsTheChildrenThatAreLeft) {
  Gate<int> done;
  Gate<int> waiting;
  FuturesUnordered<Gate<int>::Wait> set;
  set.push(done.future());
  set.push(waiting.future());
  set.push(waiting.future());
  done.open(1);
  CountingWaker waker;
  ASSERT_TRUE(set.poll_next(waker.cx).is_ready());
  const int polls = waiting.polls();
  int visited = 0;
  set.for_each([&](Gate<int>::Wait& child) {
    ++visited;
    EXPECT_TRUE(child.poll(waker.cx).is_pending());
  });
  EXPECT_EQ(visited, 2);
  EXPECT_EQ(waiting.polls(), polls + 2);
  EXPECT_EQ(done.polls(), 1);
}

TEST(FuturesUnordered, DropsItsChildrenWhenClearedAndIgnoresTheirWakers) {
  CountingWaker waker;
  Gates gates(3);
  Waits<> set;
  for (auto& gate : gates) set.push(gate.future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  gates[1].wake();
  set.clear();
  const int wakes = waker.wakes();
  for (auto& gate : gates) {
    EXPECT_EQ(gate.alive(), 0);
    gate.wake_all_kept();
  }
  EXPECT_EQ(waker.wakes(), wakes);
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesUnordered, WakesWhoeverWaitsWhenItIsCleared) {
  LocalExecutor executor;
  FuturesUnordered<PendingForever<int>> set;
  set.push(pending_forever<int>());
  bool got_nothing = false;
  auto wait = poll_fn([next = set.next(), &got_nothing](Context& cx) mutable -> Poll<void> {
    auto poll = next.poll(cx);
    if (poll.is_pending()) return pending;
    got_nothing = !poll.value().has_value();
    return Poll<void>::ready();
  });
  executor.spawn(std::move(wait)).detach();
  executor.run_until(yield_now());
  EXPECT_FALSE(got_nothing);
  executor.spawn(map(yield_now(), [&set] { set.clear(); })).detach();
  executor.run();
  EXPECT_TRUE(got_nothing);
}

TEST(FuturesUnordered, WakesWhoeverWaitsWhenItIsAssignedTo) {
  CountingWaker waker;
  Gates gates(2);
  Waits<> set;
  set.push(gates[0].future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  Waits<> other;
  other.push(gates[1].future());
  set = std::move(other);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  gates[1].open(1);
  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
}

TEST(FuturesUnordered, WakesNobodyWhenItEnds) {
  CountingWaker waker;
  Gates gates(1);
  {
    Waits<> set;
    set.push(gates[0].future());
    EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  }
  gates[0].wake_all_kept();
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(FuturesUnordered, TakesChildrenThatAChildPushes) {
  CountingWaker waker;
  struct Pusher {
    using Output = int;
    Pusher(FuturesUnordered<AnyFuture<int>>& owner, int left) : owner_(owner), left_(left) {}
    Poll<int> poll(Context&) {
      if (left_ > 0) owner_.push(Pusher(owner_, left_ - 1));
      return Poll<int>::ready(left_);
    }
    FuturesUnordered<AnyFuture<int>>& owner_;
    int left_;
  };
  FuturesUnordered<AnyFuture<int>> set;
  set.push(Pusher(set, 3));
  for (int i = 3; i >= 0; --i) EXPECT_EQ(set.poll_next(waker.cx).value(), i);
  EXPECT_TRUE(set.empty());
}

Async<int> delayed(int x) {
  for (int i = 0; i < x; ++i) co_await yield_now();
  co_return x;
}
Async<std::string> collect() {
  FuturesUnordered<Async<int>> jobs;
  for (int x : {3, 1, 2}) jobs.push(delayed(x));
  std::string order;
  while (auto done = co_await jobs.next()) {
    order += std::to_string(*done);
    if (*done == 1) jobs.push(delayed(0));
  }
  co_return order;
}

TEST(FuturesUnordered, IsConsumedByACoroutine) {
  CountingWaker waker;
  auto future = collect();
  for (;;) {
    auto poll = future.poll(waker.cx);
    if (poll.is_pending()) continue;
    EXPECT_EQ(poll.value(), "1023");
    break;
  }
}

TEST(FuturesUnordered, LosesNothingWhenNextIsDropped) {
  CountingWaker waker;
  Gates gates(1);
  Waits<> set;
  set.push(gates[0].future());
  {
    auto other = select_biased(set.next(), ready());
    EXPECT_EQ(other.poll(waker.cx).value().index(), 1U);
    auto next = set.next();
    EXPECT_TRUE(next.poll(waker.cx).is_pending());
  }
  gates[0].open(1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
}

TEST(FuturesUnordered, TakesAChildBeforeAPollWithoutAWake) {
  CountingWaker waker;
  Gates gates(2);
  FuturesUnordered<Gate<int>::Wait> set;
  set.push_before_poll(gates[0].future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  set.push_before_poll(gates[1].future());
  EXPECT_EQ(waker.wakes(), 0);
  gates[1].open(1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  gates[0].open(0);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 0);
}

TEST(FuturesUnordered, DropsChildrenThatWereNeverPolled) {
  Gates gates(2);
  {
    FuturesUnordered<Gate<int>::Wait> set;
    set.push_before_poll(gates[0].future());
    set.push(gates[1].future());
  }
  EXPECT_EQ(gates[0].alive() + gates[1].alive(), 0);
}

TEST(FuturesUnordered, KeepsTheFutureContracts) {
  check_contracts(3, [](Gates& gates) {
    Waits<> set;
    for (auto& gate : gates) set.push(gate.future());
    return poll_fn([set = std::move(set)](Context& cx) mutable -> Poll<int> {
      for (int sum = 0;;) {
        auto next = set.poll_next(cx);
        if (next.is_pending()) return pending;
        if (!next.value()) return Poll<int>::ready(sum);
        sum += *next.value();
      }
    });
  });
}

/// Runs one function when it is polled and another when it is destroyed.
class Hooked {
 public:
  using Output = int;
  using Hook = std::function<void()>;
  Hooked(std::function<Poll<int>(Context&)> on_poll, Hook on_drop)
      : on_poll_(std::move(on_poll)), on_drop_(std::move(on_drop)) {}
  Hooked(Hooked&& other) noexcept
      : on_poll_(std::move(other.on_poll_)), on_drop_(std::exchange(other.on_drop_, nullptr)) {}
  ~Hooked() {
    if (on_drop_) on_drop_();
  }
  Poll<int> poll(Context& cx) { return on_poll_(cx); }

 private:
  std::function<Poll<int>(Context&)> on_poll_;
  Hook on_drop_;
};

Poll<int> wait_for_ever(Context&) { return pending; }
Poll<int> finish_at_once(Context&) { return Poll<int>::ready(1); }
/// Is in the queue again when it is done.
Poll<int> finish_woken(Context& cx) {
  cx.waker().wake_by_ref();
  return Poll<int>::ready(1);
}

/// How children may be when their set is cleared, or when they finish.
constexpr auto pollers = {wait_for_ever, finish_at_once, finish_woken};

TEST(FuturesUnorderedDestructors, OfAChildMayClearTheSet) {
  for (auto* poller : pollers) {
    for (int polls = 0; polls < 3; ++polls) {
      CountingWaker waker;
      FuturesUnordered<Hooked> set;
      int drops = 0;
      for (int i = 0; i < 3; ++i) {
        set.push(Hooked(poller, [&] {
          ++drops;
          set.clear();
        }));
      }
      for (int i = 0; i < polls; ++i) static_cast<void>(set.poll_next(waker.cx));
      set.clear();
      EXPECT_EQ(drops, 3);
      EXPECT_TRUE(set.empty());
      EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
    }
  }
}

TEST(FuturesUnorderedDestructors, OfAChildThatIsDoneMayClearTheSetAndItsOutputIsGiven) {
  CountingWaker waker;
  Gate<int> other;
  FuturesUnordered<AnyFuture<int>> set;
  set.push(other.future());
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  set.push(Hooked(finish_woken, [&] { set.clear(); }));
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(other.alive(), 0);
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesUnorderedDestructors, OfAChildMayPushWhileTheSetIsCleared) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  for (int i = 0; i < 2; ++i) {
    set.push(Hooked(wait_for_ever, [&] { set.push(Hooked(finish_at_once, nullptr)); }));
  }
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  set.clear();
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), std::nullopt);
}

TEST(FuturesUnorderedDestructors, OfAChildMayPushWhenItIsDone) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  set.push(Hooked(finish_woken, [&] { set.push(Hooked(finish_at_once, nullptr)); }));
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_TRUE(set.empty());
}

TEST(FuturesUnorderedDestructors, OfAChildMayPushAndClearWhileTheSetEnds) {
  for (auto* poller : pollers) {
    for (int polls = 0; polls < 3; ++polls) {
      CountingWaker waker;
      Gate<int> pushed;
      int drops = 0;
      {
        FuturesUnordered<AnyFuture<int>> set;
        for (int i = 0; i < 3; ++i) {
          set.push(Hooked(poller, [&, i] {
            ++drops;
            set.push(pushed.future());
            if (i == 1) set.clear();
          }));
        }
        for (int i = 0; i < polls; ++i) static_cast<void>(set.poll_next(waker.cx));
      }
      EXPECT_EQ(drops, 3);
      EXPECT_EQ(pushed.alive(), 0);
    }
  }
}

TEST(FuturesUnorderedDestructors, OfAChildMayPushWhileTheSetIsAssignedTo) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  set.push(Hooked(wait_for_ever, [&] { set.push(Hooked(finish_at_once, nullptr)); }));
  FuturesUnordered<Hooked> other;
  other.push(Hooked(finish_at_once, nullptr));
  set = std::move(other);
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
  EXPECT_EQ(set.poll_next(waker.cx).value(), 1);
}

TEST(FuturesUnorderedDestructors, OfAChildMayWakeItsSiblings) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  std::vector<Waker> wakers;
  const auto keep_waker = [&](Context& cx) -> Poll<int> {
    wakers.push_back(cx.waker());
    return pending;
  };
  const auto wake_all = [&] {
    for (const Waker& child : wakers) child.wake_by_ref();
  };
  for (int i = 0; i < 3; ++i) set.push(Hooked(keep_waker, wake_all));
  EXPECT_TRUE(set.poll_next(waker.cx).is_pending());
  set.clear();
  EXPECT_EQ(waker.wakes(), 1);
  wake_all();
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(FuturesUnorderedDeathTest, IsNotClearedByAChildThatIsBeingPolled) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  set.push(Hooked(
      [&](Context&) -> Poll<int> {
        set.clear();
        return pending;
      },
      nullptr));
  EXPECT_DEATH(static_cast<void>(set.poll_next(waker.cx)), "poll cleared or destroyed the set");
}

TEST(FuturesUnorderedDeathTest, IsNotPolledByAChildThatIsWoken) {
  CountingWaker waker;
  FuturesUnordered<Hooked> set;
  set.push(Hooked(
      [&](Context& cx) {
        cx.waker().wake_by_ref();
        static_cast<void>(set.poll_next(waker.cx));
        return Poll<int>::ready(1);
      },
      nullptr));
  EXPECT_DEATH(static_cast<void>(set.poll_next(waker.cx)), "a child polls the set it is in");
}

}  // namespace
}  // namespace rouse::test
