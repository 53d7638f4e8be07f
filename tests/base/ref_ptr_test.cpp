#include "rouse/base/ref_ptr.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"

namespace rouse {
namespace {

struct Thing : RefCounted<Thing> {
  Thing(int& destroyed_count, int number) : destroyed(destroyed_count), value(number) {}
  ~Thing() { ++destroyed; }
  int& destroyed;
  int value;
};

TEST(RefPtr, TheLastOwnerDestroysTheObject) {
  int destroyed = 0;
  {
    const auto first = make_ref<Thing>(destroyed, 7);
    EXPECT_EQ(first->value, 7);
    {
      const RefPtr<Thing> second = first;
      EXPECT_EQ(second.get(), first.get());
      EXPECT_EQ(&*second, first.get());
      EXPECT_EQ(second, first);
    }
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(RefPtr, MovingLeavesNull) {
  int destroyed = 0;
  auto first = make_ref<Thing>(destroyed, 1);
  const auto second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): null is promised
  EXPECT_TRUE(second);
  EXPECT_EQ(destroyed, 0);
}

TEST(RefPtr, AssignmentReleasesTheOldAndSelfAssignmentKeepsIt) {
  int destroyed = 0;
  auto a = make_ref<Thing>(destroyed, 1);
  a = make_ref<Thing>(destroyed, 2);
  EXPECT_EQ(destroyed, 1);
  const auto& same = a;
  a = same;
  EXPECT_EQ(a->value, 2);
  EXPECT_EQ(destroyed, 1);
  a = nullptr;
  EXPECT_EQ(destroyed, 2);
  EXPECT_FALSE(a);
}

TEST(RefPtr, LeakAndAdoptCarryOneOwnership) {
  int destroyed = 0;
  auto owner = make_ref<Thing>(destroyed, 1);
  Thing* raw = owner.leak();
  EXPECT_FALSE(owner);
  EXPECT_EQ(destroyed, 0);
  {
    const auto back = RefPtr<Thing>::adopt(raw);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(RefPtr, ShareAddsAnOwner) {
  int destroyed = 0;
  {
    const auto owner = make_ref<Thing>(destroyed, 1);
    {
      const auto other = RefPtr<Thing>::share(owner.get());
    }
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
  EXPECT_FALSE(RefPtr<Thing>::share(nullptr));
}

TEST(RefPtr, ManyThreadsMayOwnAndReleaseAtOnce) {
  int destroyed = 0;
  auto owner = make_ref<Thing>(destroyed, 0);
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([mine = owner] {
      for (int i = 0; i < 20'000; ++i) {
        const RefPtr<Thing> copy = mine;  // NOLINT(performance-unnecessary-copy-initialization)
      }
    });
  }
  owner = nullptr;  // a thread is the last owner
  for (Thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace rouse
