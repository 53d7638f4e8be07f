// TaskLocal and the children of `parallel` and `scope`: all of them see what was set where they
// were forked, for as long as they run, whatever happens to those who set it.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/parallel_all.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

#include "exec/test_pool.hpp"

namespace rouse {
namespace {

using test::TestPool;
using testing::Gate;

constinit TaskLocal<std::string> span;
constinit TaskLocal<int> id;

/// On the heap, so that ASan sees a dangling one.
std::string span_of(int poll) {
  return "a span whose name lies on the heap, of poll " + std::to_string(poll);
}

/// What a tracing library does: names each poll of a future.
template <class F>
class Traced {
 public:
  using Output = output_t<F>;
  explicit Traced(F future) : future_(std::move(future)) {}
  Poll<Output> poll(Context& cx) {
    return span.sync_scope(span_of(++polls_), [&] { return future_.poll(cx); });
  }

 private:
  F future_;
  int polls_ = 0;
};

/// How many of some looks at the span saw another than that of the first poll.
Async<int> wrong_spans() {
  int wrong = 0;
  for (int look = 0; look < 4; ++look) {
    if (span.try_get() == nullptr || span.get() != span_of(1)) ++wrong;
    co_await yield_now();
  }
  co_return wrong;
}
Async<int> wrong_spans_and_ids() {
  const int before = id.try_get() != nullptr && id.get() == 1 ? 0 : 1;
  const int wrong = co_await wrong_spans();
  co_return before + wrong + (id.try_get() != nullptr && id.get() == 1 ? 0 : 1);
}
Async<int> sum(Parallel<int, int, int> forked) {
  auto [a, b, c] = co_await forked;
  co_return a + b + c;
}
Async<int> wrong_in_a_scope() {
  int wrong[3] = {};
  auto look = [](int& into) -> Async<void> { into = co_await wrong_spans(); };
  auto body = [&](Scope& s) {
    for (int& into : wrong) s.spawn(look(into));
  };
  co_await scope(body);
  co_return wrong[0] + wrong[1] + wrong[2];
}
Async<int> wrong_in_a_later_scope() {
  co_await yield_now();
  auto late = [&]() -> Async<int> {
    int wrong = 0;
    auto look = [&]() -> Async<void> {
      for (int i = 0; i < 3; ++i) {
        if (span.get() != span_of(2)) ++wrong;
        co_await yield_now();
      }
    };
    auto body = [&](Scope& s) { s.spawn(look()); };
    co_await scope(body);
    co_return wrong;
  };
  co_return co_await late();
}

/// On one thread, on a pool of one and of three.
template <class Make>
void expect_none_wrong(Make make) {
  for (int round = 0; round < 50; ++round) {
    LocalExecutor executor;
    EXPECT_EQ(executor.run_until(make()), 0);
  }
  for (const std::size_t workers : {1U, 3U}) {
    TestPool pool(workers);
    for (int round = 0; round < 100; ++round) EXPECT_EQ(pool.run(make()), 0);
  }
}

TEST(TaskLocalChildren, OfAScopeThatIsTracedSeeTheSpanItBeganIn) {
  expect_none_wrong([] { return Traced(wrong_in_a_scope()); });
  expect_none_wrong([] { return Traced(wrong_in_a_later_scope()); });
}

TEST(TaskLocalChildren, OfAnAwaitedParallelAllSeeTheSpanTheyWereForkedIn) {
  expect_none_wrong(
      [] { return Traced(sum(parallel(wrong_spans(), wrong_spans(), wrong_spans()))); });
}

TEST(TaskLocalChildren, OfAPolledParallelAllSeeTheSpanTheyWereForkedIn) {
  expect_none_wrong([] {
    auto forked = [](auto traced) -> Async<int> {
      auto [a, b, c] = co_await traced;
      co_return a + b + c;
    };
    return forked(Traced(parallel(wrong_spans(), wrong_spans(), wrong_spans())));
  });
}

TEST(TaskLocalChildren, OfAParallelInsideAScopeThatIsTracedSeeBoth) {
  expect_none_wrong([] {
    auto forked = [](auto traced) -> Async<int> {
      auto [a, b, c] = co_await traced;
      co_return a + b + c;
    };
    return forked(Traced(id.scope(
        1, parallel(wrong_spans_and_ids(), wrong_spans_and_ids(), wrong_spans_and_ids()))));
  });
  expect_none_wrong([] {
    return Traced(id.scope(
        1, sum(parallel(wrong_spans_and_ids(), wrong_spans_and_ids(), wrong_spans_and_ids()))));
  });
}

TEST(TaskLocalChildren, OfNestedForksEachSeeTheSpanOfTheOutermost) {
  struct Nested {
    static Async<int> run(int depth) {
      if (depth == 0) co_return co_await wrong_spans();
      co_return co_await sum(parallel(run(depth - 1), run(depth - 1), run(depth - 1)));
    }
  };
  expect_none_wrong([] { return Traced(Nested::run(2)); });
}

TEST(TaskLocalChildren, OfParallelAllSeeTheSpanTheyWereForkedIn) {
  expect_none_wrong([] {
    auto all = []() -> Async<int> {
      std::vector<Async<int>> looks;
      for (int i = 0; i < 5; ++i) looks.push_back(wrong_spans());
      int wrong = 0;
      for (const int of_one : co_await parallel_all(std::move(looks))) wrong += of_one;
      co_return wrong;
    };
    return Traced(all());
  });
}

TEST(TaskLocalChildren, SeeTheValueOfAScopeThatIsGoneBeforeThem) {
  LocalExecutor executor;
  Gate<> gates[2];
  std::vector<int> seen;
  auto look = [&](Gate<>& gate) -> Async<void> {
    co_await gate.wait();
    seen.push_back(id.try_get() == nullptr ? 0 : id.get());
  };
  auto polled = [&]() -> Async<void> {
    auto forked = parallel(look(gates[0]), look(gates[1]));
    {
      auto by_reference = poll_fn([&](Context& cx) {
        static_cast<void>(forked.poll(cx));
        return Poll<void>::ready();
      });
      auto first_poll = id.scope(5, std::move(by_reference));
      co_await first_poll;
    }
    for (auto& gate : gates) gate.open();
    auto rest = poll_fn([&](Context& cx) { return forked.poll(cx); });
    co_await rest;
  };
  executor.run_until(polled());
  EXPECT_EQ(seen, (std::vector<int>{5, 5}));
}

TEST(TaskLocalChildren, DoNotKeepAValueBeyondTheForkThatTheyAreOf) {
  static constinit TaskLocal<std::shared_ptr<int>> guard;
  for (const bool traced : {false, true}) {
    LocalExecutor executor;
    Gate<> gates[2];
    auto value = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = value;
    auto waits = [](Gate<>& gate) -> Async<void> { co_await gate.wait(); };
    auto forks = [&]() -> Async<void> { co_await parallel(waits(gates[0]), waits(gates[1])); };
    AnyFuture<void> work = guard.scope(std::move(value), forks());
    if (traced) work = Traced(std::move(work));
    std::optional<AnyFuture<void>> held(std::move(work));
    auto drops_it = [&]() -> Async<void> {
      auto twice = poll_fn([&, polls = 0](Context& cx) mutable {
        EXPECT_TRUE(held->poll(cx).is_pending());
        if (++polls == 2) return Poll<void>::ready();
        cx.waker().wake_by_ref();
        return Poll<void>(pending);
      });
      co_await twice;
      held.reset();
      EXPECT_TRUE(alive.expired()) << "its children's tasks may still be there";
    };
    executor.run_until(drops_it());
  }
}

TEST(TaskLocalChildren, TheValueOfSyncScopeEndsWithIt) {
  static constinit TaskLocal<std::shared_ptr<int>> guard;
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = value;
  auto inside = id.scope(1, yield_now());
  guard.sync_scope(std::move(value), [&] {
    Context cx(Waker::noop());
    EXPECT_TRUE(inside.poll(cx).is_pending());
  });
  EXPECT_TRUE(alive.expired());
}

TEST(TaskLocalChildren, ManyScopesInOneAnotherEndWithoutOverflowingTheStack) {
  struct Deep {
    static Poll<void> fork(Parallel<void>& forked, Context& cx, int depth) {
      if (depth > 0) return id.sync_scope(depth, [&] { return fork(forked, cx, depth - 1); });
      static_cast<void>(forked.poll(cx));
      return Poll<void>::ready();
    }
  };
  LocalExecutor executor;
  auto main = []() -> Async<void> {
    auto forked = parallel(yield_now());
    auto begin = poll_fn([&](Context& cx) { return Deep::fork(forked, cx, 2000); });
    co_await begin;
    auto rest = poll_fn([&](Context& cx) { return forked.poll(cx); });
    co_await rest;
  };
  executor.run_until(main());
}

}  // namespace
}  // namespace rouse
