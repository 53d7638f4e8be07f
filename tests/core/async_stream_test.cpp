// AsyncStream: a generator that may await; where it waits, what it gives, and how it ends.
#include "rouse/core/async_stream.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/race.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::Life;
using test::Lives;
using test::PendingOnce;
using test::ThrowsAt;
using testing::CountingWaker;
using testing::drop_at_each_poll;
using testing::Gate;
using testing::PollHarness;

static_assert(Stream<AsyncStream<int>> && Stream<AsyncStream<std::unique_ptr<int>>>);
static_assert(!Stream<Async<int>> && !Future<AsyncStream<int>>);
static_assert(Future<Next<AsyncStream<int>>>);
static_assert(!std::is_copy_constructible_v<AsyncStream<int>>);

template <class T>
Poll<std::optional<T>> poll_next(AsyncStream<T>& stream) {
  Context cx(Waker::noop());
  return stream.poll_next(cx);
}

AsyncStream<int> count_to(int last) {
  for (int i = 1; i <= last; ++i) co_yield i;
}

template <class T>
Async<std::vector<T>> read_all(AsyncStream<T> stream) {
  std::vector<T> items;
  while (auto item = co_await stream.next()) items.push_back(*std::move(item));
  co_return items;
}

TEST(AsyncStream, GivesItsValuesInOrderAndThenItsEnd) {
  EXPECT_EQ(block_on(read_all(count_to(4))), (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(block_on(read_all(count_to(0))), std::vector<int>());
}

TEST(AsyncStream, SaysThatItEndedAsOftenAsItIsAsked) {
  auto stream = count_to(1);
  EXPECT_EQ(poll_next(stream).value(), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(poll_next(stream).value(), std::nullopt);
}

AsyncStream<int> tells_how_far(int& reached) {
  reached = 1;
  co_yield 10;
  reached = 2;
  co_yield 20;
  reached = 3;
}

TEST(AsyncStream, RunsNoFurtherThanToTheValueAskedFor) {
  int reached = 0;
  auto stream = tells_how_far(reached);
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(poll_next(stream).value(), 10);
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(poll_next(stream).value(), 20);
  EXPECT_EQ(reached, 2);
  EXPECT_EQ(poll_next(stream).value(), std::nullopt);
  EXPECT_EQ(reached, 3);
}

Async<int> add(Gate<int>& gate, int x) { co_return x + co_await gate.wait(); }

AsyncStream<int> sums(Gate<int>& gate) {
  co_yield co_await add(gate, 1);
  const int both = co_await add(gate, 2) + co_await add(gate, 3);
  co_yield both;
}

TEST(AsyncStream, WaitsForWhatItAwaitsAndIsWoken) {
  Gate<int> gate;
  PollHarness next(read_all(sums(gate)));
  for (const int value : {10, 20, 30}) {
    EXPECT_TRUE(next.poll().is_pending());
    EXPECT_TRUE(next.kept_waker());
    EXPECT_FALSE(next.is_woken());
    EXPECT_TRUE(next.poll().is_pending()) << "a poll that nobody asked for";
    next.change_waker();
    EXPECT_TRUE(next.poll().is_pending());
    gate.open(value);
    EXPECT_TRUE(next.is_woken()) << "the waker of the latest poll";
  }
  EXPECT_EQ(next.poll().value(), (std::vector{11, 55}));
}

TEST(AsyncStream, GoesOnWithTheNextNextWhereADroppedOneStood) {
  Gate<int> gate;
  auto stream = sums(gate);
  for (int i = 0; i < 3; ++i) {
    PollHarness dropped(stream.next());
    EXPECT_TRUE(dropped.poll().is_pending());
  }
  gate.open(1);
  EXPECT_EQ(poll_next(stream).value(), 2);
}

TEST(AsyncStream, LosesNothingInARaceThatItLoses) {
  auto reads = [](AsyncStream<int> numbers) -> Async<std::vector<int>> {
    std::vector<int> seen;
    for (;;) {
      auto timer = [](int turns) -> Async<std::optional<int>> {
        for (int i = 0; i < turns; ++i) co_await yield_now();
        co_return 0;
      };
      const std::optional<int> first = co_await race(numbers.next(), timer(1));
      if (!first) co_return seen;
      if (*first != 0) seen.push_back(*first);
    }
  };
  auto slow = []() -> AsyncStream<int> {
    for (int i = 1; i <= 5; ++i) {
      for (int k = 0; k < i; ++k) co_await yield_now();
      co_yield i;
    }
  };
  EXPECT_EQ(block_on(reads(slow())), (std::vector{1, 2, 3, 4, 5}));
}

TEST(AsyncStream, MayBeMovedAtAnyTime) {
  Gate<int> gate;
  auto stream = sums(gate);
  EXPECT_TRUE(poll_next(stream).is_pending());
  AsyncStream<int> moved = std::move(stream);
  gate.open(1);
  EXPECT_EQ(poll_next(moved).value(), 2);
  moved = count_to(2);
  EXPECT_EQ(poll_next(moved).value(), 1);
}

AsyncStream<std::unique_ptr<int>> boxes() {
  co_yield std::make_unique<int>(1);
  auto named = std::make_unique<int>(2);
  co_yield std::move(named);
}

TEST(AsyncStream, GivesValuesThatCanOnlyBeMoved) {
  const auto all = block_on(read_all(boxes()));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(*all[0] + *all[1], 3);
}

TEST(AsyncStream, CopiesWhatIsNamedAndConvertsWhatConverts) {
  auto texts = []() -> AsyncStream<std::string> {
    const std::string named = "named, and long enough to be on the heap";
    co_yield named;
    co_yield named;
    co_yield "a literal";
  };
  EXPECT_EQ(block_on(read_all(texts())),
            (std::vector<std::string>{"named, and long enough to be on the heap",
                                      "named, and long enough to be on the heap", "a literal"}));
}

TEST(AsyncStream, TellsAnEmptyItemFromTheEnd) {
  auto maybe = []() -> AsyncStream<std::optional<int>> {
    co_yield std::nullopt;
    co_yield 7;
  };
  const auto all = block_on(read_all(maybe()));
  EXPECT_EQ(all, (std::vector<std::optional<int>>{std::nullopt, 7}));
}

AsyncStream<int> fails_after(int last) {
  for (int i = 1; i <= last; ++i) co_yield i;
  throw std::runtime_error("generator");
}

TEST(AsyncStream, ThrowsWhatItsCoroutineThrowsAndThenHasEnded) {
  auto stream = fails_after(1);
  EXPECT_EQ(poll_next(stream).value(), 1);
  EXPECT_THROW((void)poll_next(stream), std::runtime_error);
  EXPECT_EQ(poll_next(stream).value(), std::nullopt);
}

TEST(AsyncStream, SeesWhatItsChildrenThrowAndMayGoOn) {
  auto careful = []() -> AsyncStream<std::string> {
    std::string what;
    try {
      co_await ThrowsAt(2, "leaf");
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    co_yield what;
    auto inner = fails_after(0);
    try {
      (void)co_await inner.next();
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    co_yield what;
  };
  EXPECT_EQ(block_on(read_all(careful())), (std::vector<std::string>{"leaf", "generator"}));
}

/// Throws when it is moved the n-th time.
struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int number) : left(number) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : left(other.left - 1) {
    if (left == 0) throw std::runtime_error("move");
  }
  int left;
};

TEST(AsyncStream, LosesOneItemIfThatThrowsWhenItIsMoved) {
  auto stream = []() -> AsyncStream<ThrowsWhenMoved> {
    co_yield ThrowsWhenMoved(2);  // into the promise, out of it
    co_yield ThrowsWhenMoved(100);
    co_await PendingOnce();
  }();
  EXPECT_THROW((void)poll_next(stream), std::runtime_error);
  EXPECT_GT(poll_next(stream).value()->left, 0);
  EXPECT_TRUE(poll_next(stream).is_pending());
  EXPECT_FALSE(poll_next(stream).value().has_value());
}

TEST(AsyncStream, AMillionValuesNeedNoStack) {
  auto sum = [](AsyncStream<int> stream) -> Async<long> {
    long total = 0;
    while (const auto item = co_await stream.next()) total += *item;
    co_return total;
  };
  EXPECT_EQ(block_on(sum(count_to(1'000'000))), 500'000'500'000L);
}

AsyncStream<int> through(AsyncStream<int> inner) {
  while (auto item = co_await inner.next()) co_yield *item;
}

TEST(AsyncStream, StreamsOfStreamsPassValuesOn) {
  auto stream = count_to(3);
  for (int i = 0; i < 50; ++i) stream = through(std::move(stream));
  EXPECT_EQ(block_on(read_all(std::move(stream))), (std::vector{1, 2, 3}));
}

TEST(AsyncStream, LetsOthersRunIfItNeverWaits) {
  auto forever = []() -> AsyncStream<int> {
    for (;;) co_yield 1;
  };
  LocalExecutor executor;
  bool other_ran = false;
  auto reader = executor.spawn([&]() -> Async<> {
    auto ones = forever();
    while (!other_ran) (void)co_await ones.next();
  });
  auto other = executor.spawn([&]() -> Async<> {
    other_ran = true;
    co_return;
  });
  executor.run();
  EXPECT_TRUE(other_ran && reader.is_finished() && other.is_finished());
}

TEST(AsyncStream, TakesOneStepOfTheBudgetForEachItem) {
  auto stream = count_to(100);
  const CountingWaker waker;
  Context cx(waker.waker(), 3);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(stream.poll_next(cx).value(), i);
  EXPECT_TRUE(stream.poll_next(cx).is_pending());
  EXPECT_EQ(waker.count(), 1U);
  Context later(waker.waker(), 3);
  EXPECT_EQ(stream.poll_next(later).value(), 4);
}

AsyncStream<Life> lives_of(Life life) {
  const Life local(life);
  co_await PendingOnce();
  co_yield local;
  co_await [](Life own) -> Async<> {
    co_await PendingOnce();
    const Life later(own);
    co_await PendingOnce();
  }(life);
  co_yield Life(life);
  co_yield life;
}

TEST(AsyncStream, DestroyedAtAnyPointGivesEverythingBack) {
  Lives lives;
  const auto report =
      drop_at_each_poll([&] { return read_all(lives_of(Life(lives))); }, [](std::size_t) {},
                        [&](std::size_t) { EXPECT_EQ(lives.alive(), 0); });
  EXPECT_EQ(report.polls, 4U);
  EXPECT_EQ(report.wakers_left, 0U);
  for (int items = 0; items <= 3; ++items) {
    {
      auto stream = lives_of(Life(lives));
      for (int seen = 0; seen < items;) seen += poll_next(stream).is_ready() ? 1 : 0;
    }
    EXPECT_EQ(lives.alive(), 0) << "dropped at item " << items;
  }
}

TEST(AsyncStream, KeepsNoWakerAfterItsEnd) {
  Gate<int> gate;
  const auto report = drop_at_each_poll([&] { return read_all(sums(gate)); },
                                        [&](std::size_t) {
                                          if (!gate.is_open()) gate.open(1);
                                        });
  EXPECT_EQ(report.wakers_left, 0U);
}

TEST(AsyncStream, KnowsWhetherItBorrows) {
  int reached = 0;
  EXPECT_TRUE(tells_how_far(reached).borrows());
  EXPECT_FALSE(count_to(1).borrows());
  auto stream = count_to(1);
  EXPECT_TRUE(stream.next().borrows());
}

TEST(AsyncStream, IsReadAcrossThreads) {
  ThreadPool pool;
  auto hops = []() -> AsyncStream<int> {
    for (int i = 0; i < 200; ++i) {
      co_await yield_now();
      co_yield i;
    }
  };
  auto sum = [](AsyncStream<int> stream) -> Async<int> {
    int total = 0;
    while (const auto item = co_await stream.next()) {
      total += *item;
      co_await yield_now();
    }
    co_return total;
  };
  auto first = pool.spawn(sum(hops()));
  auto second = pool.spawn(sum(hops()));
  EXPECT_EQ(block_on(std::move(first)), 19900);
  EXPECT_EQ(block_on(std::move(second)), 19900);
}

TEST(AsyncStream, IsWokenFromAnotherThread) {
  Gate<int> gate;
  std::thread opener([&] {
    for (int sent = 0; sent < 3;) {
      if (gate.is_open()) continue;
      gate.open(++sent);
    }
  });
  EXPECT_EQ(block_on(read_all(sums(gate))), (std::vector{2, 10}));
  opener.join();
}

Async<int> fibonacci(int n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await parallel(fibonacci(n - 1), fibonacci(n - 2));
  co_return a + b;
}

TEST(AsyncStream, ForksAndJoinsBetweenItsValues) {
  auto results = []() -> AsyncStream<int> {
    for (int n = 1; n <= 15; ++n) co_yield co_await fibonacci(n);
  };
  ThreadPool pool;
  const auto all = block_on(pool.spawn(read_all(results())));
  EXPECT_EQ(all.back(), 610);
  EXPECT_EQ(block_on(read_all(results())), all);
}

TEST(AsyncStreamDeathTest, IsNotUsedAfterItWasMovedFrom) {
  auto stream = count_to(1);
  const auto moved = std::move(stream);
  EXPECT_DEATH((void)poll_next(stream), "moved from");
}

AsyncStream<int> reads_itself(std::optional<AsyncStream<int>>& self) {
  co_yield *co_await self->next();
}

TEST(AsyncStreamDeathTest, DoesNotReadItself) {
  std::optional<AsyncStream<int>> self;
  self.emplace(reads_itself(self));
  EXPECT_DEATH((void)poll_next(*self), "polled");
}

}  // namespace
}  // namespace rouse
