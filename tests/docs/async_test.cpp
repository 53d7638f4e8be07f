// The code in docs/guide/02_async.md that is in no example.
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>
#include <rouse/testing/gate.hpp>

namespace {

using rouse::testing::Gate;

// [async]
rouse::Async<int> twice(int x) { co_return 2 * x; }

rouse::Async<int> eight() {
  const int four = co_await twice(2);
  co_return co_await twice(four);
}
// [/async]

TEST(AsyncGuide, BlockOnRunsOneFuture) {
  // [block_on]
  EXPECT_EQ(rouse::block_on(eight()), 8);
  // [/block_on]
}

TEST(AsyncGuide, ACoroutineIsLazy) {
  // [lazy]
  bool ran = false;
  const auto mark = [&ran]() -> rouse::Async<void> {
    ran = true;
    co_return;
  };
  auto future = mark();
  EXPECT_FALSE(ran);  // nothing has run yet
  rouse::block_on(future);
  EXPECT_TRUE(ran);
  // [/lazy]
}

TEST(AsyncGuide, ALocalExecutorRunsTasks) {
  // [local_executor]
  rouse::LocalExecutor executor;
  executor.spawn(twice, 1).detach();     // runs by itself
  auto task = executor.spawn(twice, 3);  // its result is wanted
  EXPECT_EQ(executor.run_until(task), 6);
  executor.run();  // until no task is left
  // [/local_executor]
  EXPECT_EQ(executor.live_tasks(), 0U);
}

// [spawn]
rouse::Async<std::size_t> count(const std::string& text) {
  co_await rouse::yield_now();
  co_return text.size();
}

rouse::Async<void> spawning() {
  // The task owns the string, as std::thread would: the reference stays good.
  auto safe = rouse::spawn(count, std::string("three"));
  EXPECT_EQ(co_await safe, 5U);

  // The same for a lambda and its captures.
  std::string text = "captured";
  auto also_safe = rouse::spawn([text]() -> rouse::Async<std::size_t> {
    co_await rouse::yield_now();
    co_return text.size();
  });
  EXPECT_EQ(co_await also_safe, 8U);

  // rouse::spawn(count(text)) would stop the program: the task borrows `text`. If you know that
  // `text` lives longer than the task, because you wait for it here, say so.
  auto by_hand = rouse::spawn(rouse::borrowed(count(text)));
  EXPECT_EQ(co_await by_hand, 8U);
}
// [/spawn]

TEST(AsyncGuide, ATaskOwnsItsArguments) {
  rouse::LocalExecutor executor;
  executor.run_until(spawning());
}

// [errors]
rouse::Async<int> failing() {
  co_await rouse::yield_now();
  throw std::runtime_error("no luck");
}

rouse::Async<std::string> caught() {
  auto task = rouse::spawn(failing);
  try {
    co_await task;
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  co_return "";
}
// [/errors]

TEST(AsyncGuide, AnExceptionTravelsToTheJoin) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(caught()), "no luck");
}

TEST(AsyncGuide, ADetachedTasksExceptionGoesToTheHook) {
  // [unhandled]
  rouse::LocalExecutor executor;
  int unhandled = 0;
  executor.on_unhandled([&](const rouse::UnhandledException&) { ++unhandled; });
  executor.spawn(failing).detach();
  executor.run();  // goes on: one task's failure does not end the others
  // [/unhandled]
  EXPECT_EQ(unhandled, 1);
}

// [abort]
rouse::Async<bool> aborted() {
  auto task = rouse::spawn([]() -> rouse::Async<void> { co_await rouse::pending_forever<>(); });
  co_await rouse::yield_now();  // it runs, and waits
  task.abort();                 // its future is destroyed where it waits
  try {
    co_await task;
  } catch (const rouse::JoinError& error) {
    co_return error.is_cancelled();
  }
  co_return false;
}
// [/abort]

TEST(AsyncGuide, AnAbortedTaskThrowsJoinError) {
  rouse::LocalExecutor executor;
  EXPECT_TRUE(executor.run_until(aborted()));
}

TEST(AsyncGuide, ASpawnerWorksFromAnyThread) {
  // [spawner]
  rouse::LocalExecutor executor;
  Gate<int> answer;
  std::jthread thread([&answer, spawner = executor.spawner()] {
    auto task = spawner.spawn(twice, 21);  // runs on the executor's thread
    answer.open(rouse::block_on(task));    // this thread sleeps until it is done
  });
  EXPECT_EQ(executor.run_until(answer.wait()), 42);
  // [/spawner]
}

// [gcc12]
rouse::Async<int> portable(std::string name) {
  // A lambda that captures, or any other aggregate, gets a name before the await.
  auto add_length = [name](int n) { return n + static_cast<int>(name.size()); };
  const int sum = co_await rouse::map(twice(2), add_length);
  // Awaits stand in statements of their own: not in ?:, not in braces, not in captures.
  co_return sum;
}

rouse::Async<void> count_if(rouse::Async<bool> condition, int& count) {
  const bool counts = co_await condition;  // not in the condition of the if
  if (counts) ++count;
}
// [/gcc12]

rouse::Async<bool> yes() {
  co_await rouse::yield_now();
  co_return true;
}

TEST(AsyncGuide, AConditionIsAwaitedInAStatementOfItsOwn) {
  int count = 0;
  rouse::block_on(count_if(yes(), count));
  EXPECT_EQ(count, 1);
}

TEST(AsyncGuide, CapturingLambdasHaveNames) { EXPECT_EQ(rouse::block_on(portable("four")), 8); }

}  // namespace
