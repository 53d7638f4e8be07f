// ForkDeque: what the owner and thieves get, each entry once.
#include "rouse/exec/internal/fork_deque.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/core/async.hpp"

namespace rouse {

using namespace internal;
namespace {

Async<void> nothing() { co_return; }

/// Frames that a parent offers, and how often each was taken.
class Offers {
 public:
  explicit Offers(std::size_t count) : taken_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      frames_.push_back(nothing().into_frame());
      index_.emplace_back(frames_[i], i);
    }
    std::sort(index_.begin(), index_.end());
  }
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;
  ~Offers() {
    for (Frame* frame : frames_) frame->destroy();
  }

  Frame& operator[](std::size_t i) { return *frames_[i]; }
  std::size_t size() const { return frames_.size(); }

  void take(Frame* frame) {
    const auto found = std::lower_bound(index_.begin(), index_.end(), std::pair(frame, 0UL));
    taken_[found->second].fetch_add(1, memory_order_relaxed);
  }
  int times_taken(std::size_t i) const { return taken_[i].load(memory_order_relaxed); }

 private:
  std::vector<Frame*> frames_;
  std::vector<std::pair<Frame*, std::size_t>> index_;
  std::vector<atomic<int>> taken_;
};

TEST(ForkDeque, GivesItsOwnerTheNewestAndAThiefTheOldest) {
  Offers offers(3);
  ForkDeque deque;
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(deque.push(offers[i]));
  EXPECT_EQ(deque.steal(), &offers[0]);
  EXPECT_TRUE(deque.pop(offers[2]));
  EXPECT_TRUE(deque.pop(offers[1]));
  EXPECT_FALSE(deque.pop(offers[0]));
  EXPECT_EQ(deque.steal(), nullptr);
}

TEST(ForkDeque, PopsOnlyTheNewest) {
  Offers offers(2);
  ForkDeque deque;
  ASSERT_TRUE(deque.push(offers[0]));
  ASSERT_TRUE(deque.push(offers[1]));
  EXPECT_FALSE(deque.pop(offers[0]));
  EXPECT_TRUE(deque.pop(offers[1]));
  EXPECT_FALSE(deque.pop(offers[1]));
  EXPECT_TRUE(deque.pop(offers[0]));
}

TEST(ForkDeque, PushesAndPopsPrivatelyOnlyWhileThereIsAPublicPart) {
  Offers offers(3);
  ForkDeque deque;
  EXPECT_FALSE(deque.push_private(offers[0]));
  ASSERT_TRUE(deque.push(offers[0]));
  EXPECT_TRUE(deque.push_private(offers[1]));
  EXPECT_TRUE(deque.pop_private(offers[1]));
  EXPECT_FALSE(deque.pop_private(offers[0]));
  EXPECT_TRUE(deque.push_private(offers[1]));
  EXPECT_EQ(deque.steal(), &offers[0]);
  EXPECT_FALSE(deque.push_private(offers[2]));
  EXPECT_FALSE(deque.pop_private(offers[1]));
  EXPECT_TRUE(deque.pop(offers[1]));
}

TEST(ForkDeque, PublishesMoreWhenThePublicPartIsStolen) {
  Offers offers(64);
  ForkDeque deque;
  for (std::size_t i = 0; i < 64; ++i) ASSERT_TRUE(deque.push(offers[i]));
  std::size_t stolen = 0;
  std::size_t popped = 0;
  while (deque.pop(offers[63 - popped])) {
    ++popped;
    while (Frame* frame = deque.steal()) {
      EXPECT_EQ(frame, &offers[stolen]);
      ++stolen;
    }
  }
  EXPECT_EQ(stolen + popped, 64U);
  EXPECT_GT(stolen, popped);
}

TEST(ForkDeque, IsFullAtItsCapacityAndEmptiesAgain) {
  Offers offers(ForkDeque::capacity + 1);
  ForkDeque deque;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < ForkDeque::capacity; ++i) ASSERT_TRUE(deque.push(offers[i]));
    EXPECT_FALSE(deque.push(offers[ForkDeque::capacity]));
    for (std::size_t i = ForkDeque::capacity; i-- > 0;) {
      ASSERT_TRUE(deque.pop(offers[i]));
    }
  }
}

TEST(ForkDeque, PopsDownToAMark) {
  Offers offers(8);
  ForkDeque deque;
  for (std::size_t i = 0; i < 5; ++i) ASSERT_TRUE(deque.push(offers[i]));
  const std::uint32_t mark = deque.bottom();
  for (std::size_t i = 5; i < 8; ++i) ASSERT_TRUE(deque.push(offers[i]));
  for (std::size_t i = 8; i-- > 5;) EXPECT_EQ(deque.pop_above(mark), &offers[i]);
  EXPECT_EQ(deque.pop_above(mark), nullptr);
  for (std::size_t i = 5; i-- > 0;) EXPECT_EQ(deque.pop_above(deque.oldest()), &offers[i]);
}

TEST(ForkDeque, TellsWhenThereIsSomethingToSteal) {
  int published = 0;
  Offers offers(3);
  ForkDeque deque([](void* data) noexcept { ++*static_cast<int*>(data); }, &published);
  ASSERT_TRUE(deque.push(offers[0]));
  EXPECT_EQ(published, 1);
  ASSERT_TRUE(deque.push(offers[1]));
  EXPECT_EQ(published, 1);
  EXPECT_EQ(deque.steal(), &offers[0]);
  ASSERT_TRUE(deque.push(offers[2]));
  EXPECT_EQ(published, 2);
  EXPECT_TRUE(deque.pop(offers[2]));
  EXPECT_TRUE(deque.pop(offers[1]));
}

/// One owner that pushes and pops in bursts, and thieves.
TEST(ForkDequeStress, EveryEntryIsTakenExactlyOnce) {
  constexpr std::size_t entries = 40'000;
  Offers offers(entries);
  ForkDeque deque;
  atomic<bool> ended{false};
  std::vector<Thread> thieves;
  for (int i = 0; i < 3; ++i) {
    thieves.emplace_back([&] {
      // ORDER: acquire; all pushes are over.
      while (!ended.load(memory_order_acquire)) {
        if (Frame* frame = deque.steal()) offers.take(frame);
      }
    });
  }
  std::size_t pushed = 0;
  for (unsigned burst = 1; pushed < entries; burst = burst * 5 % 97 + 1) {
    for (unsigned i = 0; i < burst && pushed < entries; ++i) {
      if (!deque.push(offers[pushed])) break;
      ++pushed;
    }
    for (unsigned i = 0; i < burst * 3 / 4; ++i) {
      if (Frame* frame = deque.pop_above(deque.oldest())) offers.take(frame);
    }
  }
  while (Frame* frame = deque.pop_above(deque.oldest())) offers.take(frame);
  ended.store(true, memory_order_release);  // ORDER: release; as above.
  for (Thread& thief : thieves) thief.join();
  for (std::size_t i = 0; i < entries; ++i) ASSERT_EQ(offers.times_taken(i), 1) << i;
}

}  // namespace
}  // namespace rouse
