// The futures of sync that the tests of their own primitives do not drop after each of their polls.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/broadcast.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/sync/task_tracker.hpp"
#include "rouse/sync/watch.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;
using namespace rouse::sync;
using rouse::testing::drop_at_each_poll;
using rouse::testing::DropReport;
using rouse::testing::PollHarness;

void expect_clean(const DropReport& report, std::size_t polls) {
  EXPECT_EQ(report.polls, polls);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

TEST(DropAtEachPoll, OwnedFuturesOfLocksAndSemaphores) {
  std::shared_ptr<Semaphore> semaphore;
  expect_clean(
      drop_at_each_poll(
          [&] {
            semaphore = std::make_shared<Semaphore>(0);
            return Semaphore::acquire_owned(semaphore);
          },
          [&](std::size_t) { semaphore->add_permits(1); },
          [&](std::size_t k) { EXPECT_EQ(semaphore->available_permits(), k == 2 ? 1U : 0U) << k; }),
      2);
  auto lock = std::make_shared<RwLock<int>>(0);
  auto held = RwLock<int>::try_write_owned(lock);
  auto hold = [&] { held = RwLock<int>::try_write_owned(lock); };
  auto let_go = [&](std::size_t) { held.reset(); };
  auto is_free = [&](std::size_t k) {
    held.reset();
    EXPECT_TRUE(lock->try_write()) << k;
  };
  held.reset();
  expect_clean(
      drop_at_each_poll([&] { return hold(), RwLock<int>::read_owned(lock); }, let_go, is_free), 2);
  expect_clean(
      drop_at_each_poll([&] { return hold(), RwLock<int>::write_owned(lock); }, let_go, is_free),
      2);
  auto mutex = std::make_shared<Mutex<int>>(0);
  std::optional<MutexGuard<int, std::shared_ptr<Mutex<int>>>> locked;
  expect_clean(drop_at_each_poll(
                   [&] {
                     locked = Mutex<int>::try_lock_owned(mutex);
                     return Mutex<int>::lock_owned(mutex);
                   },
                   [&](std::size_t) { locked.reset(); },
                   [&](std::size_t k) {
                     locked.reset();
                     EXPECT_TRUE(mutex->try_lock()) << k;
                   }),
               2);
}

TEST(DropAtEachPoll, ClosedOfEverySender) {
  {
    auto [sender, receiver] = watch<int>(0);
    auto& tx = sender;
    std::optional<WatchReceiver<int>> rx(std::move(receiver));
    expect_clean(drop_at_each_poll([&] { return rx.emplace(tx.subscribe()), tx.closed(); },
                                   [&](std::size_t) { rx.reset(); }),
                 2);
  }
  auto [sender, receiver] = broadcast<int>(2);
  auto& tx = sender;
  std::optional<BroadcastReceiver<int>> rx(std::move(receiver));
  expect_clean(drop_at_each_poll([&] { return rx.emplace(tx.subscribe()), tx.closed(); },
                                 [&](std::size_t) { rx.reset(); }),
               2);
}

TEST(DropAtEachPoll, WaitForOfAWatchReceiver) {
  auto [sender, receiver] = watch<int>(0);
  auto& tx = sender;
  auto& rx = receiver;
  expect_clean(drop_at_each_poll(
                   [&] {
                     (void)tx.send(0);
                     return rx.wait_for([](int value) { return value == 2; });
                   },
                   [&](std::size_t i) { (void)tx.send(static_cast<int>(i)); }),
               3);
  EXPECT_TRUE(tx.send(5));
  EXPECT_TRUE(rx.has_changed());
}

TEST(DropAtEachPoll, WaitOfABarrier) {
  Barrier barrier(2);
  std::optional<PollHarness<Barrier::Wait>> other;
  expect_clean(drop_at_each_poll([&] { return barrier.wait(); },
                                 [&](std::size_t) {
                                   other.emplace(barrier.wait());
                                   EXPECT_TRUE(other->poll().value().is_leader());
                                 },
                                 [&](std::size_t k) {
                                   PollHarness first(barrier.wait());
                                   PollHarness second(barrier.wait());
                                   EXPECT_TRUE(first.poll().is_pending()) << k;
                                   EXPECT_TRUE(second.poll().is_ready()) << k;
                                   EXPECT_TRUE(first.poll().is_ready()) << k;
                                 }),
               2);
}

TEST(DropAtEachPoll, RunUntilCancelledAndTrackedFutures) {
  rouse::testing::Gate gate;
  CancellationToken token;
  expect_clean(drop_at_each_poll(
                   [&] {
                     token = CancellationToken();
                     return token.run_until_cancelled(gate.wait());
                   },
                   [&](std::size_t) { token.cancel(); }),
               2);
  const TaskTracker tracker;
  CancellationToken stop;
  expect_clean(drop_at_each_poll(
                   [&] {
                     stop = CancellationToken();
                     return tracker.track_future(stop.cancelled());
                   },
                   [&](std::size_t) { stop.cancel(); },
                   [&](std::size_t k) { EXPECT_TRUE(tracker.empty()) << k; }),
               2);
}

}  // namespace
