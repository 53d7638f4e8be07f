#include "rouse/sync/semaphore.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/linearizability.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::Acquire;
using rouse::sync::Permit;
using rouse::sync::Semaphore;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(sizeof(Acquire) == 48);
static_assert(sizeof(Semaphore) == 32);
static_assert(!std::is_aggregate_v<Acquire> && !std::is_copy_constructible_v<Permit>);

TEST(Semaphore, PermitsAreTakenAndGivenBack) {
  Semaphore semaphore(3);
  {
    auto two = semaphore.try_acquire(2);
    ASSERT_TRUE(two);
    EXPECT_EQ(semaphore.available_permits(), 1U);
    EXPECT_FALSE(semaphore.try_acquire(2));
    EXPECT_TRUE(semaphore.try_acquire());
  }
  EXPECT_EQ(semaphore.available_permits(), 3U);
}

TEST(Semaphore, APermitIsSplitMergedReleasedAndForgotten) {
  Semaphore semaphore(5);
  Permit all = *semaphore.try_acquire(5);
  std::optional<Permit> two = all.split(2);
  ASSERT_TRUE(two);
  EXPECT_EQ(all.permits(), 3U);
  EXPECT_FALSE(all.split(4));
  two->release();
  EXPECT_EQ(semaphore.available_permits(), 2U);
  all.merge(*semaphore.try_acquire(2));
  EXPECT_EQ(all.permits(), 5U);
  all.forget();
  EXPECT_EQ(semaphore.available_permits(), 0U);
  semaphore.add_permits(7);
  EXPECT_EQ(semaphore.forget_permits(4), 4U);
  EXPECT_EQ(semaphore.forget_permits(4), 3U);
}

TEST(Semaphore, WhoCameFirstIsServedFirstAlsoIfItWantsMore) {
  Semaphore semaphore(1);
  PollHarness big(semaphore.acquire(3));
  PollHarness small(semaphore.acquire(1));
  EXPECT_TRUE(big.poll().is_pending() && big.kept_waker());
  EXPECT_TRUE(small.poll().is_pending()) << "there is one, but big came first";
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.add_permits(1);
  EXPECT_FALSE(big.is_woken() || small.is_woken());
  semaphore.add_permits(1);
  EXPECT_TRUE(big.is_woken());
  EXPECT_FALSE(small.is_woken());
  {
    auto permit = big.poll();
    ASSERT_TRUE(permit.is_ready());
    EXPECT_EQ(permit.value().permits(), 3U);
  }
  EXPECT_TRUE(small.is_woken());
  EXPECT_TRUE(small.poll().is_ready());
  EXPECT_EQ(semaphore.available_permits(), 3U);
}

TEST(Semaphore, WhenTheFirstLeavesTheNextGetsWhatIsEnoughForIt) {
  Semaphore semaphore(1);
  std::optional<PollHarness<Acquire>> big(std::in_place, semaphore.acquire(3));
  PollHarness small(semaphore.acquire(1));
  EXPECT_TRUE(big->poll().is_pending());
  EXPECT_TRUE(small.poll().is_pending());
  big.reset();
  EXPECT_TRUE(small.is_woken());
  EXPECT_TRUE(small.poll().is_ready());
}

TEST(Semaphore, PermitsGivenToAFutureThatIsDroppedGoToTheNext) {
  Semaphore semaphore(0);
  std::optional<PollHarness<Acquire>> first(std::in_place, semaphore.acquire());
  PollHarness second(semaphore.acquire());
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  semaphore.add_permits(1);
  EXPECT_TRUE(first->is_woken());
  EXPECT_FALSE(second.is_woken());
  first.reset();
  EXPECT_TRUE(second.is_woken());
  EXPECT_TRUE(second.poll().is_ready());
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Semaphore, ClosedItRefusesAllWhoWaitOrCome) {
  Semaphore semaphore(1);
  Permit out = *semaphore.try_acquire();
  PollHarness waiting(semaphore.acquire());
  PollHarness quiet(semaphore.acquire().result());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_TRUE(quiet.poll().is_pending());
  semaphore.close();
  EXPECT_TRUE(semaphore.is_closed());
  EXPECT_TRUE(waiting.is_woken() && quiet.is_woken());
  EXPECT_THROW((void)waiting.poll(), std::system_error);
  EXPECT_EQ(quiet.poll().value().error(), std::errc::operation_canceled);
  EXPECT_FALSE(semaphore.try_acquire());
  PollHarness late(semaphore.acquire(1).result());
  EXPECT_FALSE(late.poll().value().has_value());
  out.release();
  EXPECT_EQ(semaphore.available_permits(), 1U) << "a permit that was out comes back";
}

TEST(Semaphore, ManyWaitersAreServedByOneCall) {
  Semaphore semaphore(0);
  std::vector<std::unique_ptr<PollHarness<Acquire>>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(std::make_unique<PollHarness<Acquire>>(semaphore.acquire()));
    EXPECT_TRUE(waiting.back()->poll().is_pending());
  }
  semaphore.add_permits(100);
  for (auto& one : waiting) EXPECT_TRUE(one->is_woken());
  waiting.clear();
  EXPECT_EQ(semaphore.available_permits(), 100U);
}

TEST(Semaphore, TheWakerOfTheLatestPollIsWoken) {
  Semaphore semaphore(0);
  PollHarness future(semaphore.acquire());
  EXPECT_TRUE(future.poll().is_pending());
  EXPECT_TRUE(future.poll().is_pending());
  EXPECT_EQ(future.waker().clones(), 1U);
  future.change_waker();
  EXPECT_TRUE(future.poll().is_pending());
  semaphore.add_permits(1);
  EXPECT_TRUE(future.is_woken() && future.poll().is_ready());
}

TEST(Semaphore, AFutureDroppedAtEachPollStrandsNoPermit) {
  Semaphore semaphore(1);
  std::optional<Permit> held;
  const auto report = drop_at_each_poll(
      [&] {
        held = semaphore.try_acquire();
        EXPECT_TRUE(held);
        return semaphore.acquire();
      },
      [&](std::size_t) { held->release(); },
      [&](std::size_t k) {
        held.reset();
        EXPECT_EQ(semaphore.available_permits(), 1U) << k;
      });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(Semaphore, AnOwnedPermitKeepsTheSemaphoreAlive) {
  auto semaphore = std::make_shared<Semaphore>(1);
  const std::weak_ptr<Semaphore> watched = semaphore;
  {
    PollHarness future(Semaphore::acquire_owned(std::move(semaphore)));
    auto permit = future.poll();
    ASSERT_TRUE(permit.is_ready());
    ASSERT_FALSE(watched.expired());
    EXPECT_EQ(watched.lock()->available_permits(), 0U);
    EXPECT_FALSE(Semaphore::try_acquire_owned(watched.lock()));
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Semaphore, AnOwnedFutureThatWaitsMayBeTheLastOwner) {
  auto semaphore = std::make_shared<Semaphore>(0);
  PollHarness future(Semaphore::acquire_owned(semaphore));
  EXPECT_TRUE(future.poll().is_pending());
  EXPECT_FALSE(future.future().borrows());
  EXPECT_TRUE(semaphore->acquire().borrows());
  semaphore.reset();
}

TEST(Semaphore, TakesFromTheBudget) {
  Semaphore semaphore(2);
  Context cx(Waker::noop(), 1);
  auto first = semaphore.acquire();
  auto permit = first.poll(cx);
  EXPECT_TRUE(permit.is_ready());
  auto second = semaphore.acquire();
  EXPECT_TRUE(second.poll(cx).is_pending());
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Semaphore, AWakerThatReEntersCausesNoDeadlock) {
  Semaphore semaphore(0);
  ReentrantWaker waker([&] {
    (void)semaphore.try_acquire();
    semaphore.add_permits(1);
    Context cx(Waker::noop());
    auto dropped = semaphore.acquire(5).result();
    (void)dropped.poll(cx);
    semaphore.forget_permits(1);
  });
  Context first(waker.waker());
  Context other(Waker::noop());
  for (int round = 0; round < 3; ++round) {
    std::optional<Acquire> future(semaphore.acquire(2));
    EXPECT_TRUE(future->poll(first).is_pending());
    EXPECT_TRUE(future->poll(other).is_pending());  // drops the re-entrant one
    EXPECT_TRUE(future->poll(first).is_pending());
    if (round == 1) semaphore.add_permits(2);
    if (round == 2) semaphore.close();
    future.reset();
    semaphore.forget_permits(2);
  }
  EXPECT_GT(waker.wakes(), 0);
  EXPECT_GT(waker.drops(), 0);
}

TEST(Semaphore, OneWhoIsWokenMayDropTheOthers) {
  Semaphore semaphore(0);
  std::vector<std::unique_ptr<Acquire>> futures;
  bool armed = false;
  ReentrantWaker waker([&] {
    while (armed && futures.size() > 1) futures.pop_back();
  });
  Context cx(waker.waker());
  for (int i = 0; i < 100; ++i) {
    futures.push_back(std::make_unique<Acquire>(semaphore.acquire()));
    EXPECT_TRUE(futures.back()->poll(cx).is_pending());
  }
  armed = true;
  semaphore.add_permits(100);
  EXPECT_EQ(futures.size(), 1U);
  futures.clear();
  EXPECT_EQ(semaphore.available_permits(), 100U);
}

TEST(SemaphoreDeathTest, AFutureMayNotBeMovedOnceItWaits) {
  Semaphore semaphore(0);
  EXPECT_DEATH(
      {
        auto future = semaphore.acquire();
        Context cx(Waker::noop());
        (void)future.poll(cx);
        const Acquire moved = std::move(future);
      },
      "moved after its first poll");
}

TEST(SemaphoreDeathTest, AFutureMayNotOutliveTheSemaphore) {
  EXPECT_DEATH(
      {
        auto semaphore = std::make_unique<Semaphore>(0);
        auto future = semaphore->acquire();
        Context cx(Waker::noop());
        (void)future.poll(cx);
        semaphore.reset();
      },
      "must outlive");
}

template <class Executor>
class SemaphoreOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(SemaphoreOn, AllExecutors, ExecutorNames);

struct Bounded {
  Semaphore semaphore{2};
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
};
Async<void> enter(Bounded& bounded, int times) {
  for (int i = 0; i < times; ++i) {
    auto permit = co_await bounded.semaphore.acquire();
    const int inside = ++bounded.inside;
    if (inside > bounded.most) bounded.most = inside;
    co_await yield_now();
    --bounded.inside;
  }
  ++bounded.done;
}
TYPED_TEST(SemaphoreOn, NeverMoreAreInsideThanThereArePermits) {
  Bounded bounded;
  const int times = sanitized ? 50 : 300;
  for (int i = 0; i < 5; ++i) this->executor.spawn(enter(bounded, times));
  this->executor.run(enter(bounded, times));
  EXPECT_EQ(bounded.done, 6);
  EXPECT_LE(bounded.most, 2);
  EXPECT_EQ(bounded.semaphore.available_permits(), 2U);
}

// Helpers tell the one who waits for them; that one ends, and the semaphore with it.
Async<void> tell(Semaphore& done) {
  co_await yield_now();
  done.add_permits(1);
}
template <class Executor>
Async<void> wait_for_helpers(Executor& executor, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto done = std::make_unique<Semaphore>(0);
    for (int helper = 0; helper < 3; ++helper) executor.spawn(tell(*done));
    auto all = co_await done->acquire(3);
    all.forget();
    done.reset();
  }
}
TYPED_TEST(SemaphoreOn, TheLastToTellIsDoneWithTheSemaphoreWhenTheWaiterGoesOn) {
  if constexpr (std::is_same_v<TypeParam, OnStaticExecutor>) {
    this->executor.run(wait_for_helpers(this->executor, 10));  // its tasks live to the end
  } else {
    this->executor.run(wait_for_helpers(this->executor, sanitized ? 100 : 500));
  }
}

// Each thread has at most one future, which it begins, polls and drops.
enum class SemaphoreCall : std::uint8_t { begin_one, begin_two, poll, drop, try_one, give, close };
struct SemaphoreOp {
  SemaphoreCall call{};
  std::size_t thread = 0;
  friend void PrintTo(const SemaphoreOp& op, std::ostream* out) {
    constexpr const char* names[] = {"begin(1)", "begin(2)", "poll", "drop",
                                     "try",      "give",     "close"};
    *out << names[static_cast<std::size_t>(op.call)];
  }
};

struct SemaphoreModel {
  using Op = SemaphoreOp;
  using Result = int;  // permits taken; 0: none; -1: closed
  struct Waiting {
    std::size_t thread;
    int n;
    auto operator<=>(const Waiting&) const = default;
  };

  Result apply(Op op) {
    const std::size_t me = op.thread;
    switch (op.call) {
      case SemaphoreCall::begin_one:
      case SemaphoreCall::begin_two:
        return begin(me, op.call == SemaphoreCall::begin_one ? 1 : 2);
      case SemaphoreCall::poll:
        return std::exchange(given[me], 0);
      case SemaphoreCall::drop:
        std::erase_if(queue, [me](const Waiting& waiting) { return waiting.thread == me; });
        permits += std::max(std::exchange(given[me], 0), 0);
        return serve();
      case SemaphoreCall::try_one:
        return begin(me, 1, false);
      case SemaphoreCall::give:
        return ++permits, serve();
      case SemaphoreCall::close:
        closed = true;
        for (const Waiting& waiting : queue) given[waiting.thread] = -1;
        queue.clear();
        return 0;
    }
    return 0;
  }
  int begin(std::size_t thread, int n, bool waits = true) {
    if (closed) return waits ? -1 : 0;
    if (queue.empty() && permits >= n) return permits -= n, n;
    if (waits) queue.push_back({thread, n});
    return 0;
  }
  int serve() {
    while (!queue.empty() && queue.front().n <= permits) {
      permits -= queue.front().n;
      given[queue.front().thread] = queue.front().n;
      queue.erase(queue.begin());
    }
    return 0;
  }
  auto operator<=>(const SemaphoreModel&) const = default;
  int permits = 2;
  bool closed = false;
  std::vector<Waiting> queue;
  std::array<int, 3> given{};
};

struct SemaphoreAndFutures {
  Semaphore semaphore{2};
  std::array<std::optional<ResultOf<Acquire, Permit>>, 3> futures;

  int poll(std::size_t thread) {
    if (!futures[thread]) return 0;
    Context cx(Waker::noop());
    auto polled = futures[thread]->poll(cx);
    if (polled.is_pending()) return 0;
    futures[thread].reset();
    if (!polled.value()) return -1;
    const int n = static_cast<int>(polled.value()->permits());
    polled.value()->forget();
    return n;
  }
  int perform(SemaphoreOp op) {
    auto& future = futures[op.thread];
    switch (op.call) {
      case SemaphoreCall::begin_one:
      case SemaphoreCall::begin_two:
        future.emplace(semaphore.acquire(op.call == SemaphoreCall::begin_one ? 1 : 2));
        return poll(op.thread);
      case SemaphoreCall::poll:
        return poll(op.thread);
      case SemaphoreCall::drop:
        return future.reset(), 0;
      case SemaphoreCall::give:
        return semaphore.add_permits(1), 0;
      case SemaphoreCall::close:
        return semaphore.close(), 0;
      case SemaphoreCall::try_one:
        if (auto permit = semaphore.try_acquire()) return permit->forget(), 1;
        return 0;
    }
    return 0;
  }
};

TEST(Semaphore, RandomHistoriesAreThoseOfAQueue) {
  std::array<bool, 3> has_future{};
  const HistoryReport report = check_histories<SemaphoreModel>(
      HistoryOptions(), [] { return SemaphoreModel(); },
      [] { return std::make_unique<SemaphoreAndFutures>(); },
      [&](Random& random, std::size_t thread) {
        const auto pick = random() % 32;
        SemaphoreOp op{SemaphoreCall::close, thread};
        if (pick != 0) op.call = static_cast<SemaphoreCall>(pick % 6);
        // A thread begins only what it has not begun.
        const bool begins = op.call <= SemaphoreCall::begin_two;
        if (begins && has_future[thread]) op.call = SemaphoreCall::poll;
        if (begins) has_future[thread] = true;
        if (op.call == SemaphoreCall::drop) has_future[thread] = false;
        return op;
      },
      [](SemaphoreAndFutures& object, std::size_t, SemaphoreOp op) { return object.perform(op); });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}

// Permits go in circles while waiters come and are dropped at any moment: none is lost or made.
TEST(SemaphoreStress, NoPermitIsLostWhenWaitersAreDropped) {
  Semaphore semaphore(3);
  std::atomic<bool> stop{false};
  std::atomic<int> out{0};
  auto dropper = [&](std::uint32_t n) {
    Context cx(Waker::noop());
    while (!stop) {
      auto future = semaphore.acquire(n).result();
      for (int i = 0; i < 3; ++i) {
        auto polled = future.poll(cx);
        if (polled.is_pending()) continue;
        EXPECT_LE(out += static_cast<int>(n), 3);
        out -= static_cast<int>(n);
        break;
      }
    }
  };
  std::thread one(dropper, 1);
  std::thread two(dropper, 2);
  for (int i = 0; i < (sanitized ? 2000 : 20000); ++i) {
    auto permit = block_on(semaphore.acquire(1 + static_cast<std::uint32_t>(i % 3)));
    EXPECT_LE(out += static_cast<int>(permit.permits()), 3);
    out -= static_cast<int>(permit.permits());
  }
  stop = true;
  one.join();
  two.join();
  EXPECT_EQ(semaphore.available_permits(), 3U);
}

}  // namespace
