#include "time/timer_wheel.hpp"

#include <cstdint>
#include <deque>
#include <vector>

#include <gmock/gmock.h>

namespace rouse::time {

using namespace internal;
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr Instant at(std::int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

class NumberedNode : public WheelNode {
 public:
  NumberedNode(Instant due, int number) noexcept : WheelNode(due), id(number) {}
  const int id;
};

class WheelTest : public ::testing::Test {
 protected:
  NumberedNode& insert(Instant deadline) {
    nodes_.emplace_back(deadline, static_cast<int>(nodes_.size()));
    wheel.insert(nodes_.back());
    return nodes_.back();
  }
  std::vector<int> due_at(Instant now) {
    EXPECT_TRUE(wheel.advance(TimerWheel::tick_before(now)));
    std::vector<int> ids;
    while (WheelNode* node = wheel.pop_due()) ids.push_back(static_cast<NumberedNode*>(node)->id);
    return ids;
  }

  TimerWheel wheel;

 private:
  std::deque<NumberedNode> nodes_;
};

using TheWheel = WheelTest;

TEST_F(TheWheel, FiresAtTheFirstTickAtOrAfterTheDeadline) {
  insert(at(5));
  insert(at(5) + 1ns);
  insert(at(5) - 1ns);
  EXPECT_THAT(due_at(at(5) - 1ns), ElementsAre());
  EXPECT_THAT(due_at(at(5)), ElementsAre(0, 2));
  EXPECT_THAT(due_at(at(6) - 1ns), ElementsAre());
  EXPECT_THAT(due_at(at(6)), ElementsAre(1));
  EXPECT_TRUE(wheel.empty());
}

TEST_F(TheWheel, FiresInTheOrderOfTicksThenOfInsertion) {
  insert(at(100));
  insert(at(99));
  insert(at(100));
  insert(at(5000));
  due_at(at(90));
  insert(at(100));
  insert(at(91));
  EXPECT_THAT(due_at(at(10'000)), ElementsAre(5, 1, 0, 2, 4, 3));
}

TEST_F(TheWheel, ADeadlineThatHasPassedIsDueAtOnce) {
  due_at(at(1000));
  insert(at(1000));
  insert(at(1));
  EXPECT_EQ(wheel.next_tick(), 1000U);
  EXPECT_THAT(due_at(at(1000)), ElementsAre(0, 1));
}

TEST_F(TheWheel, ANodeCanBeRemovedFromEverywhere) {
  NumberedNode& near = insert(at(3));
  NumberedNode& far = insert(at(3'000'000));
  NumberedNode& in_the_middle = insert(at(70));
  insert(at(70));
  wheel.remove(near);
  wheel.remove(far);
  wheel.remove(in_the_middle);
  EXPECT_THAT(due_at(at(4'000'000)), ElementsAre(3));

  NumberedNode& due = insert(at(1));
  wheel.remove(due);
  EXPECT_THAT(due_at(at(4'000'000)), ElementsAre());
  EXPECT_EQ(wheel.next_tick(), TimerWheel::never);
}

TEST_F(TheWheel, HoldsAnyTimeThereIs) {
  insert(Instant::max());
  insert(Instant::min());
  insert(Instant());
  EXPECT_THAT(due_at(at(0)), ElementsAre(1, 2));
  EXPECT_THAT(due_at(at(1'000'000'000'000)), ElementsAre());
  EXPECT_THAT(due_at(Instant::max()), ElementsAre());  // not quite: it is no full tick
  EXPECT_EQ(wheel.next_tick(), TimerWheel::never);
  EXPECT_NE(wheel.pop_any(), nullptr);
  EXPECT_TRUE(wheel.empty());
}

TEST_F(TheWheel, ItsNextTickIsNeverTooLateAndGetsThereInAFewSteps) {
  for (unsigned bits = 0; bits < 43; ++bits) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t deadline = (std::int64_t{1} << bits) + offset;
      TimerWheel other;
      NumberedNode node(at(deadline), 0);
      other.insert(node);
      int steps = 0;
      std::uint64_t next = 0;
      while ((next = other.next_tick()) < static_cast<std::uint64_t>(deadline)) {
        ASSERT_LE(++steps, 6);
        ASSERT_TRUE(other.advance(next));
      }
      ASSERT_EQ(next, static_cast<std::uint64_t>(deadline));
      ASSERT_TRUE(other.advance(next));
      ASSERT_EQ(other.pop_due(), &node);
    }
  }
}

TEST_F(TheWheel, DealsOutALargeSlotALittleAtATimeAndKeepsTheOrder) {
  // The slot of the ticks 256 to 383 is dealt out from 192 on.
  for (int i = 0; i < 10; ++i) insert(at(256));
  EXPECT_EQ(wheel.next_tick(), 192U);
  EXPECT_TRUE(wheel.advance(192, 3));
  EXPECT_TRUE(wheel.is_dealing());
  EXPECT_TRUE(wheel.advance(193, 3));
  insert(at(256));  // while four are still to be dealt out
  insert(at(200));
  EXPECT_TRUE(wheel.is_dealing());
  EXPECT_FALSE(wheel.advance(1000, 3));  // time does not reach 256 before that is done
  EXPECT_THAT(due_at(at(200)), ElementsAre(11));
  EXPECT_FALSE(wheel.is_dealing());
  EXPECT_THAT(due_at(at(256)), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(TheWheel, AnEmptyOneStartsAnewAtAnEarlierTime) {
  due_at(at(1'000'000));
  wheel.restart(10);
  insert(at(20));
  EXPECT_THAT(due_at(at(19)), ElementsAre());
  EXPECT_THAT(due_at(at(20)), ElementsAre(0));
}

}  // namespace
}  // namespace rouse::time
