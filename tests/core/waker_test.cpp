#include "rouse/core/waker.hpp"

#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/testing/counting_waker.hpp"

namespace rouse {
namespace {

/// Counts every call of a waker's vtable.
struct Calls {
  int clone = 0;
  int wake = 0;
  int wake_by_ref = 0;
  int drop = 0;

  friend bool operator==(const Calls&, const Calls&) = default;

  static Calls& from(const void* data) { return *static_cast<Calls*>(const_cast<void*>(data)); }
  static RawWaker do_clone(const void* data) {
    ++from(data).clone;
    return RawWaker(data, &vtable);
  }
  static void do_wake(const void* data) { ++from(data).wake; }
  static void do_wake_by_ref(const void* data) { ++from(data).wake_by_ref; }
  static void do_drop(const void* data) { ++from(data).drop; }
  static constexpr RawWakerVTable vtable{do_clone, do_wake, do_wake_by_ref, do_drop};

  Waker waker() { return Waker::from_raw(RawWaker(this, &vtable)); }
};

TEST(Waker, IsDroppedOnceAndNothingElse) {
  Calls calls;
  {
    const Waker waker = calls.waker();
  }
  EXPECT_EQ(calls, (Calls{0, 0, 0, 1}));
}

TEST(Waker, CopyingClonesOnce) {
  Calls calls;
  {
    const Waker waker = calls.waker();
    const Waker copy = waker;
    EXPECT_EQ(calls, (Calls{1, 0, 0, 0}));
  }
  EXPECT_EQ(calls, (Calls{1, 0, 0, 2}));
}

TEST(Waker, MovingCallsNothing) {
  Calls calls;
  {
    Waker waker = calls.waker();
    Waker moved = std::move(waker);
    Waker assigned;
    assigned = std::move(moved);
    EXPECT_EQ(calls, (Calls{0, 0, 0, 0}));
    EXPECT_FALSE(waker);  // NOLINT(bugprone-use-after-move): empty is promised
    EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(assigned);
  }
  EXPECT_EQ(calls, (Calls{0, 0, 0, 1}));
}

TEST(Waker, CopyAssignmentClonesTheNewAndDropsTheOld) {
  Calls old_calls;
  Calls new_calls;
  {
    Waker waker = old_calls.waker();
    const Waker other = new_calls.waker();
    waker = other;
    EXPECT_EQ(old_calls, (Calls{0, 0, 0, 1}));
    EXPECT_EQ(new_calls, (Calls{1, 0, 0, 0}));
  }
  EXPECT_EQ(old_calls, (Calls{0, 0, 0, 1}));
  EXPECT_EQ(new_calls, (Calls{1, 0, 0, 2}));
}

TEST(Waker, MoveAssignmentDropsTheOldOnly) {
  Calls old_calls;
  Calls new_calls;
  {
    Waker waker = old_calls.waker();
    waker = new_calls.waker();
    EXPECT_EQ(old_calls, (Calls{0, 0, 0, 1}));
    EXPECT_EQ(new_calls, (Calls{0, 0, 0, 0}));
  }
  EXPECT_EQ(new_calls, (Calls{0, 0, 0, 1}));
}

TEST(Waker, SelfAssignmentKeepsTheWaker) {
  Calls calls;
  {
    Waker waker = calls.waker();
    Waker& same = waker;
    waker = same;
    EXPECT_TRUE(waker);
    EXPECT_EQ(calls.clone, calls.drop);
    const Calls before = calls;
    waker = std::move(same);
    EXPECT_TRUE(waker);
    EXPECT_EQ(calls, before);
  }
  EXPECT_EQ(calls.drop, calls.clone + 1);
}

TEST(Waker, WakeConsumesWithoutDropping) {
  Calls calls;
  {
    Waker waker = calls.waker();
    std::move(waker).wake();
    EXPECT_EQ(calls, (Calls{0, 1, 0, 0}));
    EXPECT_FALSE(waker);  // NOLINT(bugprone-use-after-move): empty is promised
  }
  EXPECT_EQ(calls, (Calls{0, 1, 0, 0}));
}

TEST(Waker, WakeByRefKeepsTheWaker) {
  Calls calls;
  {
    const Waker waker = calls.waker();
    waker.wake_by_ref();
    waker.wake_by_ref();
    EXPECT_EQ(calls, (Calls{0, 0, 2, 0}));
    EXPECT_TRUE(waker);
  }
  EXPECT_EQ(calls, (Calls{0, 0, 2, 1}));
}

TEST(Waker, WillWakeIsTrueForClonesAndFalseForOthers) {
  Calls calls;
  Calls other_calls;
  const Waker waker = calls.waker();
  const Waker copy = waker;
  const Waker other = other_calls.waker();
  EXPECT_TRUE(waker.will_wake(copy));
  EXPECT_TRUE(copy.will_wake(waker));
  EXPECT_FALSE(waker.will_wake(other));
  EXPECT_FALSE(waker.will_wake(Waker()));
  EXPECT_FALSE(waker.will_wake(Waker::noop()));
}

TEST(Waker, IsTwoWordsAndMovesWithoutThrowing) {
  static_assert(sizeof(Waker) == 16 || sizeof(void*) != 8);
  static_assert(std::is_nothrow_move_constructible_v<Waker>);
  static_assert(std::is_nothrow_move_assignable_v<Waker>);
}

TEST(Waker, NoopIgnoresEverything) {
  const Waker copy = Waker::noop();
  copy.wake_by_ref();
  EXPECT_TRUE(copy.will_wake(Waker::noop()));
  Waker(copy).wake();
  EXPECT_TRUE(copy);
}

TEST(Waker, AnEmptyOneCanBeCopiedComparedAndDestroyed) {
  const Waker empty;
  const Waker copy = empty;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(copy);
  EXPECT_TRUE(empty.will_wake(copy));
}

TEST(WakerDeathTest, WakingAnEmptyOneIsRefused) {
  EXPECT_DEATH(Waker().wake(), "wake\\(\\) of an empty Waker: it was moved from or never set");
  EXPECT_DEATH(Waker().wake_by_ref(), "wake_by_ref\\(\\) of an empty Waker");
}

struct Target : RefCounted<Target> {
  explicit Target(int& destroyed_count) : destroyed(destroyed_count) {}
  ~Target() { ++destroyed; }
  void wake() { ++wakes; }
  int& destroyed;
  int wakes = 0;
};

TEST(MakeWaker, CallsTheTargetAndSharesItsOwnership) {
  int destroyed = 0;
  auto target = make_ref<Target>(destroyed);
  Waker waker = make_waker(target);
  const Waker copy = waker;
  EXPECT_TRUE(copy.will_wake(waker));
  copy.wake_by_ref();
  std::move(waker).wake();
  EXPECT_EQ(target->wakes, 2);
  target = nullptr;
  EXPECT_EQ(destroyed, 0);
}

TEST(MakeWaker, TheLastWakerDestroysTheTarget) {
  int destroyed = 0;
  {
    const Waker waker = make_waker(make_ref<Target>(destroyed));
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);

  Waker woken = make_waker(make_ref<Target>(destroyed));
  std::move(woken).wake();
  EXPECT_EQ(destroyed, 2);
}

TEST(MakeWakerDeathTest, ANullTargetIsRefused) {
  EXPECT_DEATH((void)make_waker(RefPtr<Target>()), "make_waker needs a target");
}

TEST(CountingWaker, CountsWakesAndLivingClones) {
  testing::CountingWaker counting;
  EXPECT_EQ(counting.count(), 0u);
  EXPECT_EQ(counting.clones(), 0u);
  Waker a = counting.waker();
  {
    const Waker b = a;
    EXPECT_EQ(counting.clones(), 2u);
    b.wake_by_ref();
    EXPECT_EQ(counting.count(), 1u);
  }
  EXPECT_EQ(counting.clones(), 1u);
  std::move(a).wake();
  EXPECT_EQ(counting.count(), 2u);
  EXPECT_EQ(counting.clones(), 0u);
  EXPECT_EQ(counting.clones_made(), 2u);
}

TEST(CountingWaker, MayBeOutlivedByItsClones) {
  Waker kept;
  {
    const testing::CountingWaker counting;
    kept = counting.waker();
  }
  kept.wake_by_ref();
  std::move(kept).wake();
}

}  // namespace
}  // namespace rouse
