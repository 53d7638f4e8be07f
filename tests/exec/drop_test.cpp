// The futures of exec, destroyed after each of their polls, wherever their children run: no waker
// is left, no child and nothing that one held, and what they work on can be used again.
#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/inplace_vector.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/enter_guard.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/parallel_all.hpp"
#include "rouse/exec/parallel_for.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"

#include "exec/blocking_support.hpp"

namespace rouse {

using namespace internal;
namespace {

using testing::drop_at_each_poll;
using testing::Gate;

/// Children that each hold something until their gate opens.
class Children {
 public:
  static constexpr std::size_t count = 3;

  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  Async<int> child(std::size_t i) { return waits(held_, gates_[i]); }
  Gate<int>& gate(std::size_t i) { return gates_[i]; }
  void open(std::size_t i) { gates_[i].open(static_cast<int>(i)); }

  void expect_gone_and_gates_usable() {
    EXPECT_EQ(held_.use_count(), 1);
    for (Gate<int>& gate : gates_) {
      if (!gate.is_open()) gate.open(0);
      block_on(gate.wait());
    }
  }

 private:
  static Async<int> waits(std::shared_ptr<int>, Gate<int>& gate) { co_return co_await gate.wait(); }

  std::shared_ptr<int> held_ = std::make_shared<int>(0);
  std::array<Gate<int>, count> gates_;
};

/// Between two polls a gate is opened: so each number of children has ended at some drop.
template <class Make>
void drop_by_hand(Make make) {
  std::optional<Children> children;
  const auto report = drop_at_each_poll(
      [&] { return make(children.emplace()); }, [&](std::size_t i) { children->open(i - 1); },
      [&](std::size_t) { children->expect_gone_and_gates_usable(); });
  EXPECT_EQ(report.polls, Children::count + 1);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

template <class Make>
void drop_on_local_executor(Make make) {
  LocalExecutor executor;
  const EnterGuard here(RefPtr<Scheduler>::share(&executor.scheduler()));
  const auto let_children_run = [&] {
    for (int turn = 0; turn < 4; ++turn) executor.run_until(yield_now());
  };
  std::optional<Children> children;
  const auto report = drop_at_each_poll([&] { return make(children.emplace()); },
                                        [&](std::size_t i) {
                                          let_children_run();
                                          EXPECT_GT(children->gate(i - 1).polls(), 0U);
                                          children->open(i - 1);
                                          let_children_run();
                                        },
                                        [&](std::size_t k) {
                                          children->expect_gone_and_gates_usable();
                                          executor.run();
                                          EXPECT_EQ(executor.live_tasks(), 0U) << k;
                                          EXPECT_EQ(executor.run_until(ready(1)), 1);
                                        });
  EXPECT_EQ(report.polls, Children::count + 1);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

/// Here workers may be polling the children at the moment of the drop.
template <class Make>
void drop_on_thread_pool(Make make) {
  ThreadPoolOptions config;
  config.workers = 2;
  const ThreadPool pool(config);
  const EnterGuard here(RefPtr<Scheduler>::share(&pool.scheduler()));
  const auto until_tasks_ended = [&] { until([&] { return pool.metrics().alive_tasks == 0; }); };
  std::optional<Children> children;
  const auto report = drop_at_each_poll([&] { return make(children.emplace()); },
                                        [&](std::size_t i) {
                                          until([&] { return children->gate(i - 1).polls() > 0; });
                                          children->open(i - 1);
                                          if (i == Children::count) until_tasks_ended();
                                        },
                                        [&](std::size_t) {
                                          until_tasks_ended();
                                          children->expect_gone_and_gates_usable();
                                          EXPECT_EQ(block_on(pool.spawn(ready(1))), 1);
                                        });
  EXPECT_EQ(report.polls, Children::count + 1);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

template <class Make>
void drop_everywhere(Make make) {
  drop_by_hand(make);
  drop_on_local_executor(make);
  drop_on_thread_pool(make);
}

TEST(DropAtEachPoll, ParallelPolledWithoutACoroutine) {
  drop_everywhere([](Children& c) { return parallel(c.child(0), c.child(1), c.child(2)); });
}

Async<int> await_parallel(Children& c) {
  auto [a, b, d] = co_await parallel(c.child(0), c.child(1), c.child(2));
  co_return a + b + d;
}

TEST(DropAtEachPoll, ParallelInACoroutine) {
  drop_everywhere([](Children& c) { return await_parallel(c); });
}

TEST(DropAtEachPoll, ParallelAll) {
  drop_everywhere([](Children& c) {
    std::vector<Async<int>> all;
    for (std::size_t i = 0; i < Children::count; ++i) all.push_back(c.child(i));
    return parallel_all(std::move(all));
  });
}

TEST(DropAtEachPoll, ParallelAllOfAnInplaceVector) {
  drop_everywhere([](Children& c) {
    InplaceVector<Async<int>, Children::count> all;
    for (std::size_t i = 0; i < Children::count; ++i) all.push_back(c.child(i));
    return parallel_all(std::move(all));
  });
}

TEST(DropAtEachPoll, ParallelFor) {
  drop_everywhere([](Children& c) {
    auto child = [&c](std::size_t i) { return c.child(i); };
    return parallel_for(std::size_t{0}, Children::count, child);
  });
}

TEST(DropAtEachPoll, ScopeWhoseFunctionAndChildrenWait) {
  auto make = [](Children& c) {
    auto body = [&c](Scope& s) -> Async<int> {
      s.spawn(c.child(0));
      s.spawn(c.child(1));
      co_return co_await c.child(2);
    };
    return scope(body);
  };
  drop_on_local_executor(make);
  drop_on_thread_pool(make);
}

TEST(DropAtEachPoll, ScopeWhoseFunctionEndsBeforeItsChildren) {
  auto make = [](Children& c) {
    auto body = [&c](Scope& s) {
      for (std::size_t i = 0; i < Children::count; ++i) s.spawn(c.child(i));
    };
    return scope(body);
  };
  drop_on_local_executor(make);
  drop_on_thread_pool(make);
}

constinit TaskLocal<std::shared_ptr<int>> task_local;

/// Looks at the value when it ends, also when it is dropped.
class SeesValue {
 public:
  explicit SeesValue(int& seen) noexcept : seen_(seen) {}
  SeesValue(const SeesValue&) = delete;
  SeesValue& operator=(const SeesValue&) = delete;
  ~SeesValue() { seen_ = **task_local.try_get(); }

 private:
  int& seen_;
};

TEST(DropAtEachPoll, TaskLocalScope) {
  const auto value = std::make_shared<int>(7);
  int seen = 0;
  std::optional<Gate<>> first;
  std::optional<Gate<>> second;
  auto waits = [](Gate<>& a, Gate<>& b, int& into) -> Async<void> {
    const SeesValue at_end(into);
    co_await a.wait();
    EXPECT_EQ(*task_local.get(), 7);
    co_await b.wait();
  };
  const auto report = drop_at_each_poll(
      [&] {
        seen = 0;
        return task_local.scope(value, waits(first.emplace(), second.emplace(), seen));
      },
      [&](std::size_t i) { (i == 1 ? first : second)->open(); },
      [&](std::size_t k) {
        EXPECT_EQ(seen, k == 0 ? 0 : 7) << k;
        EXPECT_EQ(value.use_count(), 1) << k;
        EXPECT_EQ(task_local.try_get(), nullptr) << k;
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(DropAtEachPoll, JoinHandleOfAThreadPoolWhoseTaskRunsOn) {
  ThreadPoolOptions config;
  config.workers = 1;
  const ThreadPool pool(config);
  // The only worker takes it after all that was woken before.
  const auto until_woken_tasks_ran = [&] { block_on(pool.spawn(ready(0))); };
  std::optional<Gate<int>> gate;
  std::atomic<int> ended{0};
  auto task = [](Gate<int>* waits_for, std::atomic<int>* count) -> Async<std::unique_ptr<int>> {
    auto result = std::make_unique<int>(co_await waits_for->wait());
    count->fetch_add(1);
    co_return result;
  };
  const auto report = drop_at_each_poll(
      [&] {
        ended = 0;
        return pool.spawn(task, &gate.emplace(), &ended);
      },
      [&](std::size_t i) {
        until([&] { return gate->polls() > 0; });
        if (i == 1) return;  // polled again although nothing happened
        gate->open(1);
        until_woken_tasks_ran();
      },
      [&](std::size_t k) {
        if (k < 3) gate->open(1);
        until([&] { return pool.metrics().alive_tasks == 0; });
        EXPECT_EQ(ended.load(), 1) << k;
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(DropAtEachPoll, JoinHandleOfABlockingCallThatRunsOn) {
  ClosedAtEnd pool;
  std::optional<std::latch> began;
  std::optional<std::latch> released;
  std::atomic<int> ended{0};
  const auto until_call_ended = [&] { until([&] { return pool->is_idle(); }); };
  const auto report = drop_at_each_poll(
      [&] {
        ended = 0;
        began.emplace(1);
        released.emplace(1);
        return pool->spawn([&] {
          began->count_down();
          released->wait();
          ended.fetch_add(1);
          return std::make_unique<int>(1);
        });
      },
      [&](std::size_t i) {
        began->wait();
        if (i == 1) return;  // polled again although nothing happened
        released->count_down();
        until_call_ended();
      },
      [&](std::size_t k) {
        if (k < 3) released->count_down();
        until_call_ended();
        EXPECT_EQ(ended.load(), 1) << k;
        EXPECT_EQ(block_on(pool->spawn([] { return 2; })), 2) << k;
        until_call_ended();
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
}

}  // namespace
}  // namespace rouse
