// select_all and select_ok: the first of a range to complete, or to succeed.
#include "rouse/future/select_all.hpp"

#include <list>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/result.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select_ok.hpp"
#include "rouse/future/yield_now.hpp"

#include "future/contracts.hpp"

namespace rouse::test {
namespace {

using Wait = Gate<int>::Wait;

std::vector<Wait> all_waits(Gates& gates) {
  std::vector<Wait> waits;
  for (auto& gate : gates) waits.push_back(gate.future());
  return waits;
}

TEST(SelectAll, GivesAPointerForAReferenceAndUnitForNothing) {
  CountingWaker waker;
  int value = 7;
  auto refers = [](int& to) -> Async<int&> { co_return to; };
  std::vector<Async<int&>> references;
  references.push_back(refers(value));
  auto all = select_all(std::move(references));
  EXPECT_EQ(all.poll(waker.cx).value().value, &value);

  std::vector<Ready<void>> units;
  units.push_back(ready());
  EXPECT_EQ(select_all(std::move(units)).poll(waker.cx).value().index, 0U);
}

TEST(SelectOk, GivesAReference) {
  CountingWaker waker;
  int value = 7;
  auto refers = [](int& to) -> Async<int&> { co_return to; };
  std::vector<Async<int&>> references;
  references.push_back(refers(value));
  auto all = select_ok(std::move(references));
  EXPECT_EQ(&all.poll(waker.cx).value(), &value);
}

TEST(SelectAll, SaysWhichWasFirstAndGivesTheOthers) {
  CountingWaker waker;
  Gates gates(3);
  auto all = select_all(all_waits(gates));
  EXPECT_TRUE(all.poll(waker.cx).is_pending());
  gates[1].open(10);
  EXPECT_GT(waker.wakes(), 0);
  auto [index, value, rest] = all.poll(waker.cx).value();
  EXPECT_EQ(index, 1U);
  EXPECT_EQ(value, 10);
  EXPECT_EQ(gates[1].alive(), 0);
  EXPECT_EQ(gates[0].alive(), 1) << "the others go on";
  EXPECT_TRUE(rest.poll(waker.cx).is_pending());
  gates[2].open(20);
  auto second = rest.poll(waker.cx).value();
  EXPECT_EQ(second.index, 2U) << "its index in the range";
  gates[0].open(0);
  auto last = second.rest.poll(waker.cx).value();
  EXPECT_EQ(last.index, 0U);
  EXPECT_TRUE(last.rest.empty());
}

TEST(SelectAll, TakesTheFirstInTheRangeIfSeveralAreReady) {
  CountingWaker waker;
  std::list<Ready<int>> futures;
  for (int i = 5; i < 8; ++i) futures.push_back(ready(i));
  EXPECT_EQ(select_all(std::move(futures)).poll(waker.cx).value().value, 5);
}

TEST(SelectAll, DropsTheOthersWithItsOutput) {
  CountingWaker waker;
  Gates gates(2);
  gates[0].open(1);
  {
    auto all = select_all(all_waits(gates));
    const auto first = all.poll(waker.cx).value().index;
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(gates[1].alive(), 0);
  }
}

TEST(SelectAll, ThrowsWhatTheFirstThrewAndDropsTheOthersWhenItIsDropped) {
  CountingWaker waker;
  Gates gates(2);
  gates[1].fail("first");
  {
    auto all = select_all(all_waits(gates));
    EXPECT_THROW((void)all.poll(waker.cx), TestError);
  }
  EXPECT_EQ(gates[0].alive(), 0);
}

TEST(SelectAll, GivesUnitsAndWhatCanOnlyBeMoved) {
  CountingWaker waker;
  std::vector<Ready<>> nothing;
  nothing.push_back(ready());
  EXPECT_EQ(select_all(std::move(nothing)).poll(waker.cx).value().value, Unit());
  std::vector<Ready<std::unique_ptr<int>>> boxes;
  boxes.push_back(ready(std::make_unique<int>(3)));
  EXPECT_EQ(*select_all(std::move(boxes)).poll(waker.cx).value().value, 3);
}

Async<int> after(int turns, int value) {
  for (int i = 0; i < turns; ++i) co_await yield_now();
  if (value < 0) throw TestError("negative");
  co_return value;
}

Async<std::vector<std::size_t>> in_order_of_end(std::vector<int> turns) {
  std::vector<Async<int>> jobs;
  for (const int count : turns) jobs.push_back(after(count, count));
  auto rest = select_all(std::move(jobs));
  std::vector<std::size_t> order;
  while (!rest.empty()) {
    auto first = co_await std::move(rest);
    order.push_back(first.index);
    rest = std::move(first.rest);
  }
  co_return order;
}

TEST(SelectAll, IsAwaitedAgainAndAgainInATask) {
  ThreadPool pool;
  auto order = pool.spawn(in_order_of_end({9, 3, 6}));
  EXPECT_EQ(block_on(std::move(order)), (std::vector<std::size_t>{1, 2, 0}));
}

TEST(SelectAll, KeepsTheContractsOfFutures) {
  Contracts(3, [](Gates& gates) { return select_all(all_waits(gates)); }).check();
  Gates gates(1);
  EXPECT_FALSE(select_all(all_waits(gates)).borrows());
}

TEST(SelectAllDeathTest, OfNothingIsRefused) {
  CountingWaker waker;
  EXPECT_DEATH((void)select_all(std::vector<Ready<int>>()).poll(waker.cx), "never ends");
  EXPECT_DEATH((void)select_ok(std::vector<Ready<int>>()).poll(waker.cx), "never ends");
}

TEST(SelectOk, GivesTheFirstThatSucceedsAndDropsTheOthers) {
  CountingWaker waker;
  Gates gates(3);
  auto any = select_ok(all_waits(gates));
  EXPECT_TRUE(any.poll(waker.cx).is_pending());
  gates[0].fail("first");
  EXPECT_TRUE(any.poll(waker.cx).is_pending());
  EXPECT_EQ(gates[0].alive(), 0);
  gates[2].open(5);
  EXPECT_EQ(any.poll(waker.cx).value(), 5);
  EXPECT_EQ(gates[1].alive(), 0);
}

TEST(SelectOk, FailsAsTheLastOneDid) {
  CountingWaker waker;
  Gates gates(2);
  auto any = select_ok(all_waits(gates));
  gates[1].fail("earlier");
  EXPECT_TRUE(any.poll(waker.cx).is_pending());
  gates[0].fail("last");
  try {
    (void)any.poll(waker.cx);
    FAIL() << "it did not throw";
  } catch (const TestError& error) {
    EXPECT_STREQ(error.what(), "last");
  }
}

TEST(SelectOk, AnErrorInAResultIsAFailure) {
  CountingWaker waker;
  using Try = Result<int>;
  std::vector<Ready<Try>> futures;
  futures.push_back(ready(Try(std::errc::io_error)));
  futures.push_back(ready(Try(7)));
  EXPECT_EQ(*select_ok(std::move(futures)).poll(waker.cx).value(), 7);
  std::vector<Ready<Try>> all_fail;
  all_fail.push_back(ready(Try(std::errc::io_error)));
  all_fail.push_back(ready(Try(std::errc::timed_out)));
  EXPECT_EQ(select_ok(std::move(all_fail)).poll(waker.cx).value().error(), std::errc::timed_out);
}

AsyncResult<void> succeeds_if(bool good) {
  co_await yield_now();
  if (!good) co_return std::errc::connection_refused;
  co_return Result<void>();
}

TEST(SelectOk, RunsFuturesOfVoidThatFailWithACode) {
  std::vector<AsyncResult<void>> some;
  for (const bool good : {false, true}) some.push_back(succeeds_if(good));
  block_on(select_ok(std::move(some)));
  std::vector<AsyncResult<void>> none;
  none.push_back(succeeds_if(false));
  EXPECT_THROW(block_on(select_ok(std::move(none))), std::system_error);
  std::vector<Async<int>> jobs;
  jobs.push_back(after(1, -1));
  jobs.push_back(after(2, 4));
  ThreadPool pool;
  EXPECT_EQ(block_on(pool.spawn(select_ok(std::move(jobs)))), 4);
}

TEST(SelectOk, DroppedAfterAnyPollLeavesNothingBehind) {
  for (int polls = 0; polls < 4; ++polls) {
    CountingWaker waker;
    Gates gates(3);
    {
      auto any = select_ok(all_waits(gates));
      for (int i = 0; i < polls; ++i) {
        (void)any.poll(waker.cx);
        if (i < 2) gates[static_cast<std::size_t>(i)].fail("failed");
        if (i == 2) break;
      }
    }
    for (auto& gate : gates) EXPECT_EQ(gate.alive(), 0);
  }
}

}  // namespace
}  // namespace rouse::test
