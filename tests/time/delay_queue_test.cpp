#include "rouse/time/delay_queue.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/core/async.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "time/paused.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using test::run_paused;
using ::testing::ElementsAre;
using time::Instant;

Async<std::vector<int>> all_of(DelayQueue<int>& queue) {
  std::vector<int> values;
  while (const std::optional<int> value = co_await queue.next()) values.push_back(*value);
  co_return values;
}

TEST(DelayQueue, ValuesComeOutInTheOrderOfTheirDeadlinesThenOfInsertion) {
  run_paused([]() -> Async<void> {
    const Instant begin = time::now();
    DelayQueue<int> queue;
    queue.insert(1, 30s);
    queue.insert(2, 10s);
    queue.insert(3, 30s);
    queue.insert(4, 0s);
    queue.insert(5, -1h);
    queue.insert_at(6, begin + 1h);
    EXPECT_EQ(queue.size(), 6U);
    EXPECT_THAT(co_await all_of(queue), ElementsAre(4, 5, 2, 1, 3, 6));
    EXPECT_EQ(time::now(), begin + 1h);
    EXPECT_TRUE(queue.empty());
  });
}

TEST(DelayQueue, AnEmptyOneGivesNothingAndCanBeUsedAgain) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    EXPECT_EQ(co_await queue.next(), std::nullopt);
    queue.insert(1, 1h);
    EXPECT_EQ(co_await queue.next(), 1);
    EXPECT_EQ(co_await queue.next(), std::nullopt);
  });
}

TEST(DelayQueue, NothingComesEarly) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    queue.insert(1, 1h);
    const Instant begin = time::now();
    EXPECT_THROW(co_await timeout(59min, queue.next()), TimedOut);
    EXPECT_EQ(co_await queue.next(), 1);
    EXPECT_EQ(time::now(), begin + 1h);
  });
}

TEST(DelayQueue, AValueThatIsRemovedDoesNotComeOut) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    const DelayKey first = queue.insert(1, 1s);
    queue.insert(2, 2s);
    EXPECT_EQ(queue.remove(first), 1);
    EXPECT_EQ(queue.remove(first), std::nullopt);
    EXPECT_THAT(co_await all_of(queue), ElementsAre(2));
  });
}

TEST(DelayQueue, AKeyDoesNotFitALaterValueInTheSamePlace) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    const DelayKey old = queue.insert(1, 1s);
    EXPECT_EQ(co_await queue.next(), 1);
    const DelayKey current = queue.insert(2, 1s);
    EXPECT_EQ(old.index(), current.index());
    EXPECT_FALSE(queue.reset(old, 1h));
    EXPECT_EQ(queue.get(old), nullptr);
    EXPECT_EQ(queue.remove(old), std::nullopt);
    EXPECT_EQ(queue.deadline(DelayKey()), std::nullopt);
    EXPECT_EQ(*queue.get(current), 2);
    EXPECT_EQ(queue.deadline(current), time::now() + 1s);
    EXPECT_EQ(co_await queue.next(), 2);
  });
}

TEST(DelayQueue, ResetMovesAValueBothWays) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    const DelayKey one = queue.insert(1, 10s);
    queue.insert(2, 20s);
    const DelayKey three = queue.insert(3, 30s);
    EXPECT_TRUE(queue.reset(one, 25s));
    EXPECT_TRUE(queue.reset_at(three, time::now() + 5s));
    EXPECT_THAT(co_await all_of(queue), ElementsAre(3, 2, 1));
  });
}

TEST(DelayQueue, WhoeverWaitsLearnsOfAnEarlierValue) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    queue.insert(1, 1h);
    const Instant begin = time::now();
    const auto waits = [](DelayQueue<int>& from, Instant start) -> Async<void> {
      EXPECT_EQ(co_await from.next(), 2);
      EXPECT_EQ(time::now(), start + 2s);
    };
    const auto inserts = [](DelayQueue<int>& into) -> Async<void> {
      co_await sleep(1s);
      into.insert(2, 1s);
    };
    co_await join(waits(queue, begin), inserts(queue));
  });
}

TEST(DelayQueue, HoldsAnyTimeThereIs) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    queue.insert(1, std::chrono::hours::max());
    queue.insert_at(2, Instant::min());
    queue.insert(3, 1ns);
    EXPECT_EQ(co_await queue.next(), 2);
    EXPECT_EQ(co_await queue.next(), 3);
    EXPECT_THROW(co_await timeout(24h * 365 * 100, queue.next()), TimedOut);
  });
}

TEST(DelayQueue, TakesWhatCanOnlyBeMovedAndDestroysWhatIsLeft) {
  run_paused([]() -> Async<void> {
    auto alive = std::make_shared<int>(1);
    {
      DelayQueue<std::unique_ptr<std::shared_ptr<int>>> queue;
      queue.insert(std::make_unique<std::shared_ptr<int>>(alive), 1s);
      queue.insert(std::make_unique<std::shared_ptr<int>>(alive), 1h);
      auto moved = std::move(queue);
      const auto first = co_await moved.next();
      EXPECT_EQ(**first, alive);
    }
    EXPECT_EQ(alive.use_count(), 1);
  });
}

TEST(DelayQueue, TwentyThousandValuesComeOutInOrder) {
  run_paused([]() -> Async<void> {
    DelayQueue<Instant> queue;
    std::uint64_t random = 1;
    std::vector<DelayKey> keys;
    for (int i = 0; i < 20'000; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const Instant deadline = time::now() + std::chrono::milliseconds(random >> 40);
      keys.push_back(queue.insert_at(deadline, deadline));
    }
    for (std::size_t i = 0; i < keys.size(); i += 3) EXPECT_TRUE(queue.remove(keys[i]));
    std::size_t count = 0;
    Instant last = Instant::min();
    while (const auto deadline = co_await queue.next()) {
      EXPECT_LE(last, *deadline);
      EXPECT_EQ(*deadline, time::now());
      last = *deadline;
      ++count;
    }
    EXPECT_EQ(count, keys.size() - (keys.size() + 2) / 3);
  });
}

TEST(DelayQueue, WhoTakesManyThatAreDueLetsOthersRun) {
  run_paused([]() -> Async<void> {
    constexpr unsigned many = 2 * Context::task_budget;
    DelayQueue<unsigned> queue;
    for (unsigned i = 0; i < many; ++i) queue.insert(i, 0s);
    testing::CountingWaker waker;
    Context cx(waker.waker(), Context::task_budget);
    unsigned taken = 0;
    while (taken < many && queue.poll_next(cx).is_ready()) ++taken;
    EXPECT_EQ(taken, Context::task_budget);
    EXPECT_GE(waker.count(), 1U) << "it is polled again";
    co_return;
  });
}

TEST(DelayQueue, WhoeverWaitsLearnsThatItIsEmpty) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    const DelayKey key = queue.insert(1, 1h);
    const Instant begin = time::now();
    const auto waits = [](DelayQueue<int>& from) -> Async<void> {
      EXPECT_EQ(co_await from.next(), std::nullopt);
    };
    const auto removes = [](DelayQueue<int>& from, DelayKey what) -> Async<void> {
      co_await sleep(1s);
      EXPECT_EQ(from.remove(what), 1);
    };
    co_await join(waits(queue), removes(queue, key));
    EXPECT_LE(time::now(), begin + 1s + time::resolution);
    queue.insert(2, 1s);
    EXPECT_EQ(co_await queue.next(), 2);
  });
}

TEST(DelayQueue, PeekTellsWhichValueComesNext) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    EXPECT_EQ(queue.peek(), std::nullopt);
    const DelayKey never = queue.insert(0, std::chrono::hours::max());
    EXPECT_EQ(queue.peek(), never);
    const DelayKey late = queue.insert(1, 3h);
    EXPECT_EQ(queue.peek(), late);
    const DelayKey soon = queue.insert(2, 2h);
    queue.insert(3, 2h);
    EXPECT_EQ(queue.peek(), soon) << "of two at one time, the one that was inserted first";
    const DelayKey now = queue.insert(4, 0s);
    EXPECT_EQ(queue.peek(), now);
    EXPECT_TRUE(queue.reset(now, 4h));
    EXPECT_EQ(queue.peek(), soon);
    EXPECT_EQ(queue.deadline(*queue.peek()), time::now() + 2h);
    queue.remove(soon);
    while (const auto next = queue.peek()) {
      if (*next == never) break;
      const int value = *queue.get(*next);
      EXPECT_EQ(co_await queue.next(), value);
    }
    EXPECT_EQ(queue.size(), 1U);
  });
}

TEST(DelayQueue, ClearDestroysAllValuesAndTellsWhoWaits) {
  run_paused([]() -> Async<void> {
    const auto alive = std::make_shared<int>(1);
    DelayQueue<std::shared_ptr<int>> queue;
    const DelayKey old = queue.insert(alive, 1h);
    queue.insert(alive, 2h);
    queue.insert(alive, -1s);
    const Instant begin = time::now();
    EXPECT_EQ(co_await queue.next(), alive);
    const auto waits = [](DelayQueue<std::shared_ptr<int>>& from) -> Async<void> {
      EXPECT_EQ(co_await from.next(), std::nullopt);
    };
    const auto clears = [](DelayQueue<std::shared_ptr<int>>& what) -> Async<void> {
      co_await sleep(1s);
      what.clear();
    };
    co_await join(waits(queue), clears(queue));
    EXPECT_LE(time::now(), begin + 1s + time::resolution);
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.get(old), nullptr);
    queue.clear();
    queue.insert(alive, 1s);
    EXPECT_EQ(queue.get(old), nullptr) << "an old key does not fit a later value";
    EXPECT_EQ(co_await queue.next(), alive);
  });
}

/// Throws when it is moved the n-th time.
class ThrowsOnMove {
 public:
  ThrowsOnMove(int number, int& moves_left) : number_(number), moves_left_(&moves_left) {}
  ThrowsOnMove(ThrowsOnMove&& other) : number_(other.number_), moves_left_(other.moves_left_) {
    if ((*moves_left_)-- == 0) throw std::runtime_error("move");
  }
  int number() const { return number_; }

 private:
  int number_;
  int* moves_left_;
};

TEST(DelayQueue, AMoveThatThrowsLosesThatValueOnly) {
  run_paused([]() -> Async<void> {
    for (int moves = 0; moves < 12; ++moves) {
      int left = moves;
      DelayQueue<ThrowsOnMove> queue;
      int inserted = 0;
      try {
        queue.insert(ThrowsOnMove(1, left), 1s);
        ++inserted;
        queue.insert(ThrowsOnMove(2, left), 2s);
        ++inserted;
      } catch (const std::runtime_error&) {
      }
      EXPECT_EQ(queue.size(), static_cast<std::size_t>(inserted));
      try {
        while (!queue.empty()) co_await queue.next();
      } catch (const std::runtime_error&) {
      }
      EXPECT_LE(queue.size(), 1U);
      queue.clear();
      EXPECT_TRUE(queue.empty());
      left = 100;
      queue.insert(ThrowsOnMove(3, left), 1s);
      EXPECT_EQ((co_await queue.next())->number(), 3);
      const auto nothing = co_await queue.next();
      EXPECT_FALSE(nothing.has_value());
    }
  });
}

TEST(DelayQueue, OneThatWasMovedFromIsEmpty) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    queue.insert(1, 1s);
    DelayQueue<int> moved = std::move(queue);
    EXPECT_EQ(queue.size(), 0U);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.size(), 1U);
    EXPECT_EQ(co_await moved.next(), 1);
  });
}

TEST(DelayQueue, GivesAllAtTheEndOfTime) {
  run_paused([]() -> Async<void> {
    co_await time::advance(std::chrono::hours::max());
    DelayQueue<int> queue;
    queue.insert(1, 1h);
    queue.insert(2, std::chrono::hours::max());
    EXPECT_EQ(co_await queue.next(), 1);
    EXPECT_EQ(co_await queue.next(), 2);
    EXPECT_EQ(co_await queue.next(), std::nullopt);
  });
}

TEST(DelayQueueDeathTest, OneThatWasMovedFromStops) {
  run_paused([]() -> Async<void> {
    DelayQueue<int> queue;
    DelayQueue<int> other(std::move(queue));
    other.insert(1, 1h);
    // NOLINTBEGIN(bugprone-use-after-move): the mistake
    EXPECT_DEATH(queue.insert(2, 1h), "moved from");
    EXPECT_DEATH(static_cast<void>(queue.peek()), "moved from");
    // NOLINTEND(bugprone-use-after-move)
    co_return;
  });
}

}  // namespace
}  // namespace rouse
