// Models of the deque of forks: the owner pushes and pops at one end, thieves take from the other.
// Every branch is taken once, and a thief sees what was written before it was pushed.
#include "rouse/exec/internal/fork_deque.hpp"

#include <array>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/pool/idle_workers.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// Stands for frames: the deque only passes their addresses on.
template <std::size_t count>
class Branches {
 public:
  void push(ForkDeque& deque, std::size_t index) {
    branches_[index].content.write() = 1;
    Frame& frame = reinterpret_cast<Frame&>(branches_[index]);
    if (!deque.push_private(frame)) ensure(deque.push(frame), "it is not full");
  }
  /// Takes it back if nobody has stolen it.
  void pop(ForkDeque& deque, std::size_t index) {
    Frame& frame = reinterpret_cast<Frame&>(branches_[index]);
    if (deque.pop_private(frame) || deque.pop(frame)) run(&frame);
  }
  void pop_above(ForkDeque& deque, std::uint32_t mark) {
    while (Frame* frame = deque.pop_above(mark)) run(frame);
  }
  bool steal(ForkDeque& deque) {
    Frame* const frame = deque.steal();
    if (frame != nullptr) run(frame);
    return frame != nullptr;
  }
  void expect_done(int number) {
    ensure(done_.load(memory_order_relaxed) == number, "every branch is run");
  }

 private:
  struct Entry {
    alignas(16) Cell<int> content{0};
  };
  void run(Frame* frame) {
    auto& entry = reinterpret_cast<Entry&>(*frame);
    ensure(entry.content.read() == 1, "nobody has run it");
    entry.content.write() = 2;
    done_.fetch_add(1, memory_order_relaxed);
  }
  std::array<Entry, count> branches_;
  atomic<int> done_{0};
};

TEST(ForkDequeModel, ABranchIsTakenByItsOwnerOrByAThief) {
  check([] {
    ForkDeque deque;
    Branches<1> branches;
    Thread thief([&] { branches.steal(deque); });
    branches.push(deque, 0);
    branches.pop(deque, 0);
    thief.join();
    branches.expect_done(1);
  });
}

TEST(ForkDequeModel, WhatIsTakenBackIsNotStolen) {
  check([] {
    ForkDeque deque;
    Branches<3> branches;
    Thread thief([&] {
      branches.steal(deque);
      branches.steal(deque);
    });
    for (std::size_t i = 0; i < 3; ++i) branches.push(deque, i);
    for (std::size_t i = 3; i-- > 0;) branches.pop(deque, i);
    thief.join();
    branches.expect_done(3);
  });
}

TEST(ForkDequeModel, TwoThievesTakeDifferentBranches) {
  check([] {
    ForkDeque deque;
    Branches<3> branches;
    Thread first([&] { branches.steal(deque); });
    Thread second([&] { branches.steal(deque); });
    for (std::size_t i = 0; i < 3; ++i) branches.push(deque, i);
    branches.pop_above(deque, 0);
    first.join();
    second.join();
    branches.expect_done(3);
  });
}

TEST(ForkDequeModel, APlaceIsFilledAgainWhileAThiefIsAtIt) {
  check([] {
    ForkDeque deque;
    Branches<3> branches;
    branches.push(deque, 0);
    Thread thief([&] { branches.steal(deque); });
    branches.pop(deque, 0);
    branches.push(deque, 1);
    branches.pop(deque, 1);
    branches.push(deque, 2);
    branches.pop(deque, 2);
    thief.join();
    branches.expect_done(3);
  });
}

TEST(ForkDequeModel, WhatIsAboveAMarkIsTheOwnersOrTheThiefs) {
  check([] {
    ForkDeque deque;
    Branches<3> branches;
    branches.push(deque, 0);
    const std::uint32_t mark = deque.bottom();
    Thread thief([&] {
      branches.steal(deque);
      branches.steal(deque);
    });
    branches.push(deque, 1);
    branches.push(deque, 2);
    branches.pop_above(deque, mark);
    branches.pop(deque, 0);
    thief.join();
    branches.expect_done(3);
  });
}

/// A thief that goes to sleep: tells it, looks once more, sleeps. Who publishes wakes it, if it is
/// seen. Somebody must see the other.
TEST(ForkDequeModel, WhatIsPublishedIsSeenByASleeperOrTheSleeperIsWoken) {
  check([] {
    struct Pool {
      static void published(void* data) noexcept {
        auto& pool = *static_cast<Pool*>(data);
        if (pool.idle.wants_waking_for_fork()) {
          pool.woken.fetch_add(1, memory_order_relaxed);
        }
      }
      IdleWorkers idle{1};
      atomic<int> woken{0};
    } pool;
    ForkDeque deque(Pool::published, &pool);
    Branches<1> branches;
    bool found = false;
    Thread sleeper([&] {
      pool.idle.sleep(*reinterpret_cast<Worker*>(&pool), false);
      found = deque.has_public();
    });
    branches.push(deque, 0);
    sleeper.join();
    ensure(found || pool.woken.load(memory_order_relaxed) == 1, "one of the two saw the other");
    branches.pop(deque, 0);
  });
}

}  // namespace
}  // namespace rouse::model
