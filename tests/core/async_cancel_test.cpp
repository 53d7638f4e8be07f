// Async: destroying it at any point cancels it and gives everything back, innermost first.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using Log = std::vector<std::string>;
using test::Life;
using test::Lives;
using test::Note;
using test::PendingOnce;
using test::poll_once;
using testing::drop_at_each_poll;
using testing::DropReport;
using testing::Gate;

Async<> leave_at_once(Life life) {
  const Life local(life);
  co_return;
}

TEST(Async, DestroyedUnstartedGivesItsArgumentsBack) {
  Lives lives;
  {
    [[maybe_unused]] auto future = leave_at_once(Life(lives));
    EXPECT_EQ(lives.alive(), 1);
  }
  EXPECT_EQ(lives.alive(), 0);
}

Async<Life> grandchild(Life life) {
  const Life local(life);
  co_await PendingOnce();
  const Life later(life);
  co_await PendingOnce();
  co_return later;
}
Async<Life> child(Life life) {
  const auto heap = std::make_unique<Life>(life);
  co_await PendingOnce();
  const Life got = co_await grandchild(*heap);
  co_await PendingOnce();
  co_return got;
}
Async<> parent(Life life) {
  std::vector<Life> several;
  several.reserve(4);
  for (int i = 0; i < 3; ++i) {
    several.push_back(co_await child(life));
    co_await PendingOnce();
  }
}

TEST(Async, DestroyedAtEachAwaitPointLeaksNothing) {
  Lives lives;
  const DropReport report = drop_at_each_poll(
      [&] { return parent(Life(lives)); }, [](std::size_t) {},
      [&](std::size_t k) { EXPECT_EQ(lives.alive(), 0) << "dropped after " << k << " polls"; });
  EXPECT_EQ(report.polls, 3u * 5u + 1u);
  EXPECT_EQ(report.wakers_left, 0u);
  EXPECT_FALSE(report.threw);
  EXPECT_GT(lives.made, 100);
}

/// A leaf that tells of its end.
class NotedLeaf {
 public:
  using Output = void;
  explicit NotedLeaf(Log& log) : note_(std::make_unique<Note>(log, "leaf")) {}
  Poll<void> poll(Context& cx) {
    keep_waker(waker_, cx);
    return pending;
  }

 private:
  std::unique_ptr<Note> note_;
  Waker waker_;
};

Async<> inner(Log& log) {
  const Note note(log, "inner");
  const Note second(log, "inner second");
  co_await NotedLeaf(log);
}
Async<> middle(Log& log) {
  const Note note(log, "middle");
  co_await inner(log);
}
Async<> outer(Log& log) {
  const Note note(log, "outer");
  co_await middle(log);
}

TEST(Async, IsDestroyedInnermostFirst) {
  Log log;
  {
    auto future = outer(log);
    EXPECT_TRUE(poll_once(future).is_pending());
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log, (Log{"leaf", "inner second", "inner", "middle", "outer"}));
}

Async<> await_a_variable(Log& log) {
  auto child = middle(log);
  const Note note(log, "made after the child");  // the child may borrow it by now
  co_await child;
}

TEST(Async, AnAwaitedVariableIsDestroyedBeforeWhatWasMadeAfterIt) {
  Log log;
  {
    auto future = await_a_variable(log);
    EXPECT_TRUE(poll_once(future).is_pending());
  }
  EXPECT_EQ(log, (Log{"leaf", "inner second", "inner", "middle", "made after the child"}));
}

TEST(Async, DropsTheWakerItKeptWhenItIsDestroyed) {
  Log log;
  const testing::CountingWaker counting;
  {
    auto future = outer(log);
    Context cx(counting.waker());
    EXPECT_TRUE(future.poll(cx).is_pending());
    EXPECT_EQ(counting.clones(), 1u);
  }
  EXPECT_EQ(counting.clones(), 0u);
  EXPECT_EQ(counting.count(), 0u);
}

TEST(Async, MoveAssignmentCancelsWhatWasThere) {
  Log log;
  auto future = outer(log);
  EXPECT_TRUE(poll_once(future).is_pending());
  future = outer(log);
  EXPECT_EQ(log.size(), 5u);
}

/// A list of coroutines that were not begun, each inside the one before.
struct ListOfAsyncs {
  explicit ListOfAsyncs(Lives& lives) : life(lives) {}
  Life life;
  std::optional<Async<void>> next;
};
Async<void> owns_list(std::unique_ptr<ListOfAsyncs>) { co_return; }

TEST(Async, MayBeAssignedOneThatIsInsideOfItself) {
  Lives lives;
  {
    auto inner = std::make_unique<ListOfAsyncs>(lives);
    auto outer = std::make_unique<ListOfAsyncs>(lives);
    outer->next = owns_list(std::move(inner));
    std::optional<Async<void>>& next = outer->next;
    Async<void> future = owns_list(std::move(outer));
    future = std::move(*next);
    EXPECT_EQ(lives.alive(), 1);
    auto& same = future;
    future = std::move(same);
    EXPECT_TRUE(poll_once(future).is_ready());
  }
  EXPECT_EQ(lives.alive(), 0);
}

TEST(Async, AMovedFromAsyncOwnsNothing) {
  Log log;
  auto future = outer(log);
  EXPECT_TRUE(poll_once(future).is_pending());
  {
    [[maybe_unused]] const auto moved = std::move(future);
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log.size(), 5u);
}

Async<> use_child_as_variable(Log& log, Gate<>& gate) {
  [[maybe_unused]] auto unstarted = inner(log);
  auto started = middle(log);
  EXPECT_TRUE(poll_once(started).is_pending());  // polled by hand, then left alone
  const Note note(log, "owner");
  co_await gate.wait();
}

TEST(Async, DestroysChildrenItHoldsInVariables) {
  Log log;
  Gate<> gate;
  {
    auto future = use_child_as_variable(log, gate);
    EXPECT_TRUE(poll_once(future).is_pending());
  }
  EXPECT_EQ(log, (Log{"owner", "leaf", "inner second", "inner", "middle"}));
}

/// Its child is destroyed by itself, before its end.
Async<> drop_child_midway(Log& log) {
  {
    auto given_up = middle(log);
    EXPECT_TRUE(poll_once(given_up).is_pending());
  }
  log.emplace_back("dropped");
  co_await PendingOnce();
  log.emplace_back("end");
}

TEST(Async, GoesOnAfterItDroppedAChildMidway) {
  Log log;
  testing::PollHarness h(drop_child_midway(log));
  EXPECT_TRUE(h.poll_until_ready(2).is_ready());
  EXPECT_EQ(log, (Log{"leaf", "inner second", "inner", "middle", "dropped", "end"}));
}

/// What a child borrows from its parent must outlive the child.
class ReadsAtItsEnd {
 public:
  ReadsAtItsEnd(const std::string& text, Log& log) : text_(text), log_(log) {}
  ReadsAtItsEnd(const ReadsAtItsEnd&) = delete;
  ~ReadsAtItsEnd() { log_.push_back(text_); }

 private:
  const std::string& text_;
  Log& log_;
};
Async<> borrow(const std::string& text, Gate<>& gate, Log& log) {
  const ReadsAtItsEnd reader(text, log);
  co_await gate.wait();
}
Async<> lend(Gate<>& gate, Log& log) {
  const std::string local(100, 'x');
  co_await borrow(local, gate, log);
}
Async<> lend_a_temporary(Gate<>& gate, Log& log) {
  co_await borrow(std::string(100, 'y'), gate, log);
}

TEST(Async, WhatAChildBorrowsOutlivesIt) {
  Log log;
  Gate<> gate;
  {
    auto future = lend(gate, log);
    EXPECT_TRUE(poll_once(future).is_pending());
  }
  {
    auto future = lend_a_temporary(gate, log);
    EXPECT_TRUE(poll_once(future).is_pending());
  }
  EXPECT_EQ(log, (Log{std::string(100, 'x'), std::string(100, 'y')}));
}

TEST(DropAtEachPoll, DropsAfterEveryNumberOfPollsAndStepsBetween) {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> drops;
  const DropReport report = drop_at_each_poll([] { return test::ReadyAfter<int>(2, 1); },
                                              [&](std::size_t k) { steps.push_back(k); },
                                              [&](std::size_t k) { drops.push_back(k); });
  EXPECT_EQ(report.polls, 3u);
  EXPECT_EQ(drops, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(steps, (std::vector<std::size_t>{1, 1, 2}));
}

TEST(DropAtEachPoll, CountsAnExceptionAsTheEnd) {
  const DropReport report = drop_at_each_poll([] { return test::ThrowsAt(3); }, [](std::size_t) {});
  EXPECT_EQ(report.polls, 3u);
  EXPECT_TRUE(report.threw);
}

/// Leaves its waker behind in a place that outlives it.
class LeaksWaker {
 public:
  using Output = void;
  explicit LeaksWaker(std::vector<Waker>& left) : left_(left) {}
  Poll<void> poll(Context& cx) {
    if (std::exchange(polled_, true)) return Poll<void>::ready();
    left_.push_back(cx.waker());
    return pending;
  }

 private:
  std::vector<Waker>& left_;
  bool polled_ = false;
};

TEST(DropAtEachPoll, SeesWakersThatOutliveTheFuture) {
  std::vector<Waker> left;
  const DropReport report = drop_at_each_poll([&] { return LeaksWaker(left); }, [](std::size_t) {});
  EXPECT_EQ(report.wakers_left, 1u);
}

TEST(DropAtEachPoll, FindsThatAGateKeepsNoWaker) {
  std::unique_ptr<Gate<int>> gate;
  const DropReport report = drop_at_each_poll(
      [&] {
        gate = std::make_unique<Gate<int>>();
        return gate->wait();
      },
      [&](std::size_t k) {
        if (k == 2) gate->open(1);
      });
  EXPECT_EQ(report.polls, 3u);
  EXPECT_EQ(report.wakers_left, 0u);
}

}  // namespace
}  // namespace rouse
