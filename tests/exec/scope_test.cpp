// scope: its children end before it does, whatever happens.
#include "rouse/exec/scope.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/exec/local_executor.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

#include "exec/test_pool.hpp"

namespace rouse {
namespace {

using test::TestPool;
using testing::Gate;

Async<void> add(atomic<int>& sum, int x) {
  co_await yield_now();
  sum.fetch_add(x, memory_order_relaxed);
}

Async<int> spawn_hundred() {
  atomic<int> sum{0};
  auto body = [&](Scope& s) -> Async<int> {
    for (int i = 0; i < 100; ++i) s.spawn(add(sum, 1));
    co_return 7;
  };
  const int result = co_await scope(body);
  co_return result + sum.load();
}

TEST(Scope, GivesTheResultOfItsFunctionWhenAllChildrenEnded) {
  EXPECT_EQ(LocalExecutor().run_until(spawn_hundred()), 107);
  TestPool pool(3);
  for (int round = 0; round < 50; ++round) EXPECT_EQ(pool.run(spawn_hundred), 107);
}

TEST(Scope, TakesAFunctionThatReturnsNothing) {
  atomic<int> sum{0};
  auto body = [&](Scope& s) { s.spawn(add(sum, 1)); };
  LocalExecutor().run_until(scope(body));
  EXPECT_EQ(sum.load(), 1);
}

TEST(Scope, SpawnsAFunctionWithItsArguments) {
  std::string seen;
  auto body = [&](Scope& s) {
    s.spawn(
        [&](const std::string& text) -> Async<void> {
          co_await yield_now();
          seen = text;
        },
        std::string("a string that is too long to lie inside its object"));
  };
  LocalExecutor().run_until(scope(body));
  EXPECT_EQ(seen, "a string that is too long to lie inside its object");
}

Async<void> spawn_tree(Scope& s, int depth, atomic<int>& leaves) {
  if (depth == 0) {
    leaves.fetch_add(1, memory_order_relaxed);
    co_return;
  }
  s.spawn(spawn_tree(s, depth - 1, leaves));
  s.spawn(spawn_tree(s, depth - 1, leaves));
}

TEST(Scope, ChildrenMaySpawnChildren) {
  atomic<int> leaves{0};
  auto body = [&](Scope& s) -> Async<void> { co_await spawn_tree(s, 8, leaves); };
  LocalExecutor().run_until(scope(body));
  EXPECT_EQ(leaves.load(), 256);
  TestPool(3).run(scope(body));
  EXPECT_EQ(leaves.load(), 512);
}

Async<void> fail_after_yield() {
  co_await yield_now();
  throw std::runtime_error("a child failed");
}

TEST(Scope, AChildThatFailsCancelsTheFunctionAndTheOtherChildren) {
  auto held = std::make_shared<int>(0);
  auto hold = [](std::shared_ptr<int>) -> Async<void> { co_await pending_forever(); };
  auto body = [&](Scope& s) -> Async<void> {
    s.spawn(hold(held));
    s.spawn(fail_after_yield());
    co_await hold(held);
  };
  EXPECT_THROW(LocalExecutor().run_until(scope(body)), std::runtime_error);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THROW(TestPool(3).run(scope(body)), std::runtime_error);
  EXPECT_EQ(held.use_count(), 1);
}

Async<void> fail_with(std::string what) {
  throw std::runtime_error(what);
  co_return;
}

template <class Body>
std::string what_is_thrown(Body& body) {
  try {
    LocalExecutor().run_until(scope(std::ref(body)));
    return "nothing";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Scope, OfSeveralErrorsTheFirstIsThrown) {
  // The children are polled in this order, before the scope is.
  auto children_fail = [](Scope& s) -> Async<void> {
    for (const char* what : {"first", "second", "third"}) s.spawn(fail_with(what));
    co_await pending_forever();
  };
  EXPECT_EQ(what_is_thrown(children_fail), "first");
  auto function_fails_after_a_child = [](Scope& s) -> Async<void> {
    s.spawn(fail_with("first"));
    co_await yield_now();
    throw std::runtime_error("second");
  };
  EXPECT_EQ(what_is_thrown(function_fails_after_a_child), "first");
  auto function_fails_before_a_child = [](Scope& s) -> Async<void> {
    s.spawn(fail_with("second"));
    co_await fail_with("first");
  };
  EXPECT_EQ(what_is_thrown(function_fails_before_a_child), "first");
}

TEST(Scope, AFunctionThatFailsCancelsTheChildren) {
  auto held = std::make_shared<int>(0);
  auto hold = [](std::shared_ptr<int>) -> Async<void> { co_await pending_forever(); };
  auto later = [&](Scope& s) -> Async<void> {
    s.spawn(hold(held));
    co_await fail_after_yield();
  };
  EXPECT_THROW(LocalExecutor().run_until(scope(later)), std::runtime_error);
  auto at_once = [&](Scope& s) -> Async<void> {
    s.spawn(hold(held));
    throw std::runtime_error("fn itself");
  };
  EXPECT_THROW(TestPool(2).run(scope(at_once)), std::runtime_error);
  EXPECT_EQ(held.use_count(), 1);
}

/// Yields for ever, and looks_at at what the frame around the scope holds.
Async<void> looks_at(const int& local, atomic<int>& polls) {
  for (;;) {
    if (local != 42) std::abort();
    polls.fetch_add(1, memory_order_relaxed);
    co_await yield_now();
  }
}
Async<void> scope_of_lookers(atomic<int>& polls) {
  int local = 42;
  struct Clobber {
    explicit Clobber(int& v) : value(v) {}
    ~Clobber() { value = 0; }
    int& value;
  } const clobber(local);
  auto body = [&](Scope& s) {
    for (int i = 0; i < 4; ++i) s.spawn(looks_at(local, polls));
  };
  co_await scope(body);
}

TEST(ScopeStress, DroppedWhileOthersPollItsChildrenItWaitsForThem) {
  TestPool pool(3);
  for (int round = 0; round < 200; ++round) {
    atomic<int> polls{0};
    auto task = pool.spawn(borrowed(scope_of_lookers(polls)));
    while (polls.load(memory_order_relaxed) < 30) std::this_thread::yield();
    task.abort();
    EXPECT_THROW(block_on(task), JoinError);
  }
}

TEST(Scope, ChildrenThatEndedAreGone) {
  auto held = std::make_shared<int>(0);
  Gate<> gate;
  auto child = [](std::shared_ptr<int>) -> Async<void> { co_return; };
  auto body = [&](Scope& s) -> Async<void> {
    for (int i = 0; i < 10; ++i) s.spawn(child(held));
    co_await gate.wait();
  };
  LocalExecutor executor;
  auto task = executor.spawn(scope(body));
  for (int i = 0; i < 3; ++i) executor.run_until(yield_now());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(task.is_finished());
  gate.open();
  executor.run();
  EXPECT_TRUE(task.is_finished());
}

}  // namespace
}  // namespace rouse
