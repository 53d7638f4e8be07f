// BlockingPool: results, abort, limits, and what a call may do. Its end:
// blocking_pool_end_test.cpp.
#include "rouse/exec/blocking_pool.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/yield_now.hpp"

#include "exec/blocking_support.hpp"

namespace rouse {
namespace {

BlockingOptions threads(std::size_t max) {
  BlockingOptions options;
  options.max_threads = max;
  return options;
}

TEST(BlockingPool, GivesWhatTheFunctionReturns) {
  ClosedAtEnd pool;
  EXPECT_EQ(block_on(pool->spawn([] { return 7; })), 7);
  EXPECT_EQ(*block_on(pool->spawn([](int n) { return std::make_unique<int>(n); }, 8)), 8);
  bool ran = false;
  block_on(pool->spawn([&] { ran = true; }));
  EXPECT_TRUE(ran);
  int value = 1;
  EXPECT_EQ(&block_on(pool->spawn([](int& n) -> int& { return n; }, std::ref(value))), &value);
}

TEST(BlockingPool, RunsTheFunctionOnAThreadOfItsOwnWithItsName) {
  BlockingOptions options;
  options.thread_name = "a-blocking-thread";
  ClosedAtEnd pool(options);
  const auto [id, name] = block_on(pool->spawn([] {
    std::array<char, 16> text{};
    ::pthread_getname_np(::pthread_self(), text.data(), text.size());
    return std::pair(std::this_thread::get_id(), std::string(text.data()));
  }));
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_EQ(name, "a-blocking-thre");
}

TEST(BlockingPool, OwnsFunctionAndArguments) {
  ClosedAtEnd pool;
  auto length = [](const std::string& text) { return text.size(); };
  EXPECT_EQ(block_on(pool->spawn(length, "converted at once")), 17U);
  auto owned = std::make_unique<int>(3);
  EXPECT_EQ(block_on(pool->spawn([owned = std::move(owned)] { return *owned; })), 3);
  EXPECT_EQ(block_on(pool->spawn(&std::string::size, std::string("member"))), 6U);
}

TEST(BlockingPool, RethrowsWhatTheFunctionThrew) {
  ClosedAtEnd pool;
  auto handle = pool->spawn([]() -> int { throw std::runtime_error("disk on fire"); });
  try {
    block_on(std::move(handle));
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "disk on fire");
  }
}

TEST(BlockingPool, AnExceptionThatNobodyJoinsGoesToTheHook) {
  Mailbox<TaskId> unhandled;
  BlockingOptions options;
  options.on_unhandled = [&](const UnhandledException& e) { unhandled.put(e.id); };
  ClosedAtEnd pool(options);
  auto handle = pool->spawn([] { throw std::runtime_error("nobody cares"); });
  const TaskId id = handle.id();
  handle.detach();
  EXPECT_EQ(unhandled.take(), id);
}

TEST(BlockingPool, AbortBeforeTheCallBeganCancelsIt) {
  ClosedAtEnd pool(threads(1));
  Blocker blocker(*pool);
  auto argument = std::make_shared<int>(0);
  auto handle = pool->spawn([argument] { ADD_FAILURE() << "was run"; });
  handle.abort();
  EXPECT_EQ(argument.use_count(), 2);
  blocker.release();
  EXPECT_THROW(block_on(handle), JoinError);
  EXPECT_EQ(argument.use_count(), 1);
}

TEST(BlockingPool, AbortOfACallThatRunsHasNoEffect) {
  ClosedAtEnd pool;
  Blocker blocker(*pool);
  blocker.handle.abort();
  blocker.release();
  EXPECT_EQ(block_on(blocker.handle), 42);
}

TEST(BlockingPool, ADetachedCallRunsOn) {
  std::latch done(1);
  ClosedAtEnd pool;
  pool->spawn([&] { done.count_down(); }).detach();
  done.wait();
}

TEST(BlockingPool, NeverHasMoreThreadsThanItsMaximum) {
  ClosedAtEnd pool(threads(2));
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  // Calls meet in pairs: so there are two at once, and never three.
  std::vector<std::unique_ptr<std::latch>> meetings;
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 100; ++i) {
    if (i % 2 == 0) meetings.push_back(std::make_unique<std::latch>(2));
    handles.push_back(pool->spawn([&, meeting = meetings.back().get()] {
      const int now = ++running;
      int before = most;
      while (before < now && !most.compare_exchange_weak(before, now)) {
      }
      meeting->arrive_and_wait();
      --running;
    }));
    EXPECT_LE(pool->metrics().threads, 2U);
  }
  for (auto& handle : handles) block_on(handle);
  EXPECT_EQ(most, 2);
}

TEST(BlockingPool, CallsRunInTheOrderTheyCame) {
  ClosedAtEnd pool(threads(1));
  std::vector<int> order;
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 5; ++i) handles.push_back(pool->spawn([&, i] { order.push_back(i); }));
  for (auto& handle : handles) block_on(handle);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

TEST(BlockingPool, AnIdleThreadIsUsedBeforeANewOneIsStarted) {
  std::atomic<int> started{0};
  BlockingOptions options;
  options.on_thread_start = [&] { ++started; };
  ClosedAtEnd pool(options);
  for (int i = 0; i < 50; ++i) {
    block_on(pool->spawn([] {}));
    until([&] { return pool->metrics().idle_threads == 1; });
  }
  EXPECT_EQ(started, 1);
}

TEST(BlockingPool, ACallThatFindsTheQueueFullFailsAtOnce) {
  BlockingOptions options = threads(1);
  options.queue_capacity = 2;
  ClosedAtEnd pool(options);
  Blocker blocker(*pool);
  auto second = pool->spawn([] { return 2; });
  auto third = pool->spawn([] { return 3; });
  EXPECT_EQ(pool->metrics().queue_depth, 2U);
  auto argument = std::make_shared<int>(0);
  auto fourth = pool->spawn([argument] { ADD_FAILURE() << "was run"; });
  EXPECT_TRUE(fourth.is_finished());
  EXPECT_EQ(argument.use_count(), 1);
  try {
    block_on(fourth);
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
    EXPECT_NE(std::string(e.what()).find("queue of blocking calls is full"), std::string::npos);
  }
  blocker.release();
  EXPECT_EQ(block_on(second) + block_on(third), 5);
}

TEST(BlockingPool, AQueueOfNoneTakesWhatAThreadCanRunAtOnce) {
  BlockingOptions options = threads(1);
  options.queue_capacity = 0;
  ClosedAtEnd pool(options);
  Blocker blocker(*pool);
  EXPECT_THROW(block_on(pool->spawn([] {})), std::system_error);
  blocker.release();
  block_on(blocker.handle);
}

TEST(BlockingPool, IdleThreadsEndAfterAWhile) {
  Mailbox<std::size_t> left;
  BlockingOptions options;
  options.keep_alive = std::chrono::nanoseconds(1);
  BlockingPool* alive = nullptr;
  options.on_thread_stop = [&] { left.put(alive->metrics().threads); };
  ClosedAtEnd pool(options);
  alive = &*pool;
  EXPECT_EQ(block_on(pool->spawn([] { return 1; })), 1);
  EXPECT_EQ(left.take(), 0U);                             // without being closed
  EXPECT_EQ(block_on(pool->spawn([] { return 2; })), 2);  // a new thread
  EXPECT_EQ(left.take(), 0U);
}

// --- Threads that can't be started. ---

TEST(BlockingPool, ACallFailsIfThereIsNoThreadAndNoneCanBeStarted) {
  ThreadSource source;
  source.allow(0);
  ClosedAtEnd pool(BlockingOptions(), source);
  auto handle = pool->spawn([] { ADD_FAILURE() << "was run"; });
  EXPECT_TRUE(handle.is_finished());
  try {
    block_on(handle);
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
    EXPECT_NE(std::string(e.what()).find("did not start one"), std::string::npos) << e.what();
  }
  source.allow(1);  // the pool is as good as before
  EXPECT_EQ(block_on(pool->spawn([] { return 1; })), 1);
}

TEST(BlockingPool, ACallWaitsForTheThreadThereIsIfNoOtherCanBeStarted) {
  ThreadSource source;
  source.allow(1);
  ClosedAtEnd pool(BlockingOptions(), source);
  Blocker blocker(*pool);
  auto waits = pool->spawn([] { return 2; });
  EXPECT_FALSE(waits.is_finished());
  EXPECT_EQ(pool->metrics().threads, 1U);
  blocker.release();
  EXPECT_EQ(block_on(waits), 2);
}

// --- What a call may do. ---

TEST(BlockingPool, ACallMayBlock) {
  ClosedAtEnd pool;
  auto answer = []() -> Async<int> { co_return 5; };
  EXPECT_EQ(block_on(pool->spawn([&] { return block_on(answer()); })), 5);
  auto on_executor = [&] {
    LocalExecutor executor;
    const int first = executor.run_until(answer());
    return first + block_on(answer());  // still allowed after the executor
  };
  EXPECT_EQ(block_on(pool->spawn(on_executor)), 10);
}

TEST(BlockingPoolDeathTest, ATaskOfAnExecutorInsideACallMayNotBlock) {
  auto blocks = []() -> Async<void> {
    block_on([]() -> Async<void> { co_return; }());
    co_return;
  };
  auto call = [&] {
    LocalExecutor executor;
    executor.run_until(blocks());
  };
  EXPECT_DEATH(block_on(BlockingPool().spawn(call)), "spawn_blocking");
}

TEST(BlockingPool, SpawnInsideACallGoesToTheOwner) {
  auto runtime = make_ref<FakeRuntime>();
  auto task = []() -> Async<int> { co_return 9; };
  std::optional<JoinHandle<int>> inner;
  block_on(runtime->pool.spawn([&] { inner = spawn(task); }));
  EXPECT_FALSE(inner->is_finished());
  EXPECT_EQ(runtime->run_until(*std::move(inner)), 9);
  runtime->shut_down();
}

TEST(SpawnBlocking, RunsOnThePoolOfTheRuntime) {
  auto runtime = make_ref<FakeRuntime>();
  auto main = [](std::thread::id here) -> Async<int> {
    auto off_this_thread = [here](int n) { return std::this_thread::get_id() == here ? -1 : n; };
    auto nested = [](int n) { return block_on(spawn_blocking([n] { return n; })); };
    const int six = co_await spawn_blocking(off_this_thread, 6);
    const int seven = co_await spawn_blocking(nested, 7);
    co_return six* seven;
  };
  EXPECT_EQ(runtime->run_until(runtime->spawn(main, std::this_thread::get_id())), 42);
  runtime->shut_down();
}

TEST(SpawnBlocking, AFailureAtOnceLeavesTheTaskThatSpawnsAsItWas) {
  auto runtime = make_ref<FakeRuntime>();
  runtime->pool.close();
  auto main = []() -> Async<int> {
    auto refused = spawn_blocking([] {});
    bool is_cancelled = false;
    try {
      co_await refused;
    } catch (const JoinError&) {
      is_cancelled = true;
    }
    co_await yield_now();                                // it can still wake itself
    co_await spawn([]() -> Async<void> { co_return; });  // and be woken
    co_return is_cancelled ? 1 : 2;
  };
  EXPECT_EQ(runtime->run_until(runtime->spawn(main)), 1);
  runtime->shut_down();
}

TEST(SpawnBlockingDeathTest, WithoutARuntimeAborts) {
  EXPECT_DEATH((void)spawn_blocking([] {}), "spawn_blocking without a Runtime");
  auto in_local_executor = [] {
    LocalExecutor executor;
    executor.run_until([]() -> Async<void> { co_await spawn_blocking([] {}); }());
  };
  EXPECT_DEATH(in_local_executor(), "spawn_blocking without a Runtime");
}

}  // namespace
}  // namespace rouse
