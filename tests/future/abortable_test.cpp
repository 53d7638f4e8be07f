#include "rouse/future/abortable.hpp"

#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

using testing::PollHarness;

TEST(Abortable, GivesTheOutputIfNobodyAborts) {
  auto [future, handle] = abortable(ready(7));
  EXPECT_EQ(block_on(std::move(future)), 7);
  EXPECT_FALSE(handle.is_aborted());
  handle.abort();
  EXPECT_TRUE(handle.is_aborted());
  auto [nothing, other] = abortable(ready());
  block_on(std::move(nothing));
}

TEST(Abortable, AbortWakesItAndItDropsTheFuture) {
  Gate<int> gate;
  auto [future, handle] = abortable(gate.future());
  PollHarness waits(std::move(future));
  EXPECT_TRUE(waits.poll().is_pending());
  const int alive = gate.alive();
  const AbortableHandle copy = handle;
  copy.abort();
  EXPECT_TRUE(waits.is_woken());
  try {
    (void)waits.poll();
    FAIL() << "it did not throw";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_canceled);
  }
  EXPECT_EQ(gate.alive(), alive - 1);
}

TEST(Abortable, AbortedBeforeItsFirstPollNeverPollsTheFuture) {
  Gate<int> gate;
  auto [future, handle] = abortable(gate.future());
  handle.abort();
  const Result<int> result = block_on(std::move(future).result());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::operation_canceled);
  EXPECT_EQ(gate.polls(), 0);
}

AsyncResult<int> fails_with_code() { co_return std::errc::io_error; }
Async<int> throws() {
  throw TestError("future");
  co_return 0;
}

TEST(Abortable, PassesOnTheErrorsOfTheFuture) {
  const Result<int> failed = block_on(abortable(fails_with_code()).first.result());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), std::errc::io_error);
  EXPECT_THROW((void)block_on(abortable(throws()).first.result()), TestError);
}

TEST(Abortable, LeavesNoWakerBehind) {
  auto [future, handle] = abortable(pending_forever<int>());
  const testing::CountingWaker waker;
  {
    auto dropped = std::move(future);
    Context cx(waker.waker());
    EXPECT_TRUE(dropped.poll(cx).is_pending());
    EXPECT_EQ(waker.clones(), 1U);
  }
  EXPECT_EQ(waker.clones(), 0U);
  handle.abort();
  EXPECT_EQ(waker.count(), 0U);
}

TEST(Abortable, IsAbortedFromAnotherThread) {
  ThreadPool pool;
  for (int i = 0; i < 100; ++i) {
    auto [future, handle] = abortable(pending_forever<int>());
    auto task = pool.spawn(std::move(future).result());
    handle.abort();
    EXPECT_FALSE(block_on(std::move(task)));
  }
}

TEST(Abortable, KeepsTheContractsOfFutures) {
  Contracts(1, [](Gates& gates) { return abortable(gates[0].future()).first; }).check();
  EXPECT_FALSE(abortable(ready(1)).first.borrows());
}

TEST(AbortableDeathTest, OneThatWasMovedFromStops) {
  auto future = abortable(pending_forever<int>()).first;
  auto taken = std::move(future).result();
  CountingWaker waker;
  // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
  EXPECT_DEATH(static_cast<void>(future.poll(waker.cx)), "moved from");
}

}  // namespace
}  // namespace rouse::test
