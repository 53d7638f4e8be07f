#include "rouse/sync/set_once.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "sync/executors.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::sync::SetOnce;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

TEST(SetOnce, IsEmptyUntilItIsSetAndThenStays) {
  SetOnce<std::unique_ptr<int>> cell;
  EXPECT_FALSE(cell.is_set());
  EXPECT_EQ(cell.get(), nullptr);
  EXPECT_TRUE(cell.set(std::make_unique<int>(1)));
  auto other = std::make_unique<int>(2);
  EXPECT_FALSE(cell.set(std::move(other)));
  EXPECT_NE(other, nullptr) << "not touched";
  EXPECT_EQ(**cell.get(), 1);
  EXPECT_EQ(**std::as_const(cell).get(), 1);
}

TEST(SetOnce, WakesAllWhoWait) {
  SetOnce<std::string> cell;
  PollHarness first(cell.wait());
  PollHarness second(cell.wait());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(cell.set("value"));
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  EXPECT_EQ(&first.poll().value(), cell.get());
  EXPECT_EQ(second.poll().value(), "value");
}

TEST(SetOnce, WhoComesLaterDoesNotWait) {
  SetOnce<int> cell;
  auto made_before = cell.wait();
  EXPECT_TRUE(cell.set(1));
  EXPECT_EQ(block_on(made_before), 1);
  EXPECT_EQ(block_on(cell.wait()), 1);
}

TEST(SetOnce, AValueThatCouldNotBeMadeIsNotSet) {
  struct Throws {
    explicit Throws(int n) {
      if (n == 0) throw std::runtime_error("no");
    }
  };
  SetOnce<Throws> cell;
  PollHarness waits(cell.wait());
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_THROW(cell.set(0), std::runtime_error);
  EXPECT_FALSE(cell.is_set());
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_TRUE(cell.set(1));
  EXPECT_TRUE(waits.poll().is_ready());
}

TEST(SetOnce, IsCleanWhereverAWaitIsDropped) {
  std::optional<SetOnce<int>> cell;
  const auto report =
      drop_at_each_poll([&] { return cell.emplace().wait(); },
                        [&](std::size_t) { EXPECT_TRUE(cell->set(1)); }, [&](std::size_t) {});
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}

template <class Executor>
class SetOnceOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(SetOnceOn, AllExecutors, ExecutorNames);

Async<void> expect_is_set(SetOnce<int>& cell, int value) {
  const int& seen = co_await cell.wait();
  EXPECT_EQ(seen, value);
}
Async<void> set_it(SetOnce<int>& cell, int value) {
  EXPECT_TRUE(cell.set(value));
  co_return;
}

TYPED_TEST(SetOnceOn, ReachesAll) {
  SetOnce<int> cell;
  for (int i = 0; i < 3; ++i) this->executor.spawn(expect_is_set(cell, 7));
  this->executor.run(set_it(cell, 7));
}

TEST(SetOnceStress, OneOfManySetsItAndAllSeeThatOne) {
  for (int round = 0; round < 200; ++round) {
    SetOnce<int> cell;
    std::vector<int> seen(4, -1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (i < 2) cell.set(i);
        seen[static_cast<std::size_t>(i)] = block_on(cell.wait());
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int value : seen) EXPECT_EQ(value, *cell.get());
  }
}

}  // namespace
