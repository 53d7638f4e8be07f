// Models of the workers' run queue: the owner pushes and takes, thieves steal. Every task is taken
// once, and who takes it sees what was written before it was pushed. Its rings are small here, so
// that they are full and grow.
#include "exec/pool/local_queue.hpp"

#include <array>
#include <span>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// Stands for tasks: the queue only passes their addresses on.
template <std::size_t count>
class Tasks {
 public:
  void push(LocalQueue& queue, std::size_t index) {
    entries_[index].content.write() = 1;
    ensure(queue.push(reinterpret_cast<TaskHeader&>(entries_[index])), "there is memory");
  }
  void run(TaskHeader* task) {
    auto& entry = reinterpret_cast<Entry&>(*task);
    ensure(entry.content.read() == 1, "nobody has run it");
    entry.content.write() = 2;
    done_.fetch_add(1, memory_order_relaxed);
  }
  void take(LocalQueue& queue, std::size_t max) {
    std::array<TaskHeader*, count> taken{};
    for (TaskHeader* task : queue.take(std::span(taken).first(max))) run(task);
  }
  void steal(LocalQueue& queue, std::size_t max) {
    std::array<TaskHeader*, count> stolen{};
    const std::size_t number = queue.steal(stolen.data(), max);
    for (std::size_t i = 0; i < number; ++i) run(stolen[i]);
  }
  void expect_done(std::size_t number) {
    ensure(done_.load(memory_order_relaxed) == number, "every task is run");
  }

 private:
  struct Entry {
    alignas(TaskHeader) Cell<int> content{0};
  };
  std::array<Entry, count> entries_;
  atomic<std::size_t> done_{0};
};

TEST(LocalQueueModel, TheOwnerAndAThiefShareTheTasks) {
  check([] {
    LocalQueue queue;
    Tasks<3> tasks;
    tasks.push(queue, 0);
    Thread thief([&] { tasks.steal(queue, 2); });
    tasks.push(queue, 1);
    tasks.take(queue, 1);
    tasks.push(queue, 2);
    tasks.take(queue, 3);
    thief.join();
    tasks.take(queue, 3);
    tasks.expect_done(3);
  });
}

TEST(LocalQueueModel, OfTwoThievesEachGetsItsOwn) {
  check([] {
    LocalQueue queue;
    Tasks<3> tasks;
    tasks.push(queue, 0);
    tasks.push(queue, 1);
    Thread first([&] { tasks.steal(queue, 2); });
    Thread second([&] { tasks.steal(queue, 2); });
    tasks.push(queue, 2);
    tasks.take(queue, 1);
    first.join();
    second.join();
    tasks.take(queue, 3);
    tasks.expect_done(3);
  });
}

TEST(LocalQueueModel, ASlotIsFilledAgainOnlyAfterItsThiefReadIt) {
  check([] {
    LocalQueue queue(2);
    Tasks<4> tasks;
    tasks.push(queue, 0);
    tasks.push(queue, 1);
    Thread thief([&] { tasks.steal(queue, 2); });
    tasks.take(queue, 1);
    tasks.push(queue, 2);
    tasks.push(queue, 3);
    thief.join();
    tasks.take(queue, 4);
    tasks.expect_done(4);
  });
}

TEST(LocalQueueModel, AThiefFindsWhatWasMovedToALargerRing) {
  check([] {
    LocalQueue queue(1);
    Tasks<3> tasks;
    tasks.push(queue, 0);
    Thread thief([&] { tasks.steal(queue, 1); });
    tasks.push(queue, 1);
    tasks.push(queue, 2);
    thief.join();
    tasks.take(queue, 3);
    tasks.expect_done(3);
  });
}

TEST(LocalQueueModel, AThiefThatComesTwiceMeetsAGrowingQueue) {
  check([] {
    LocalQueue queue(1);
    Tasks<4> tasks;
    tasks.push(queue, 0);
    Thread thief([&] {
      tasks.steal(queue, 1);
      tasks.steal(queue, 2);
    });
    tasks.push(queue, 1);
    tasks.take(queue, 1);
    tasks.push(queue, 2);
    tasks.push(queue, 3);
    thief.join();
    tasks.take(queue, 4);
    tasks.expect_done(4);
  });
}

TEST(LocalQueueModel, TwoThievesAndAnOwnerWithOneSlot) {
  check([] {
    LocalQueue queue(1);
    Tasks<2> tasks;
    tasks.push(queue, 0);
    Thread first([&] { tasks.steal(queue, 1); });
    Thread second([&] { tasks.steal(queue, 1); });
    tasks.push(queue, 1);
    first.join();
    second.join();
    tasks.take(queue, 2);
    tasks.expect_done(2);
  });
}

TEST(LocalQueueModel, WhatIsStolenGoesToTheThiefsOwnQueue) {
  check([] {
    LocalQueue queue(2);
    LocalQueue thiefs(2);
    Tasks<3> tasks;
    tasks.push(queue, 0);
    tasks.push(queue, 1);
    tasks.push(queue, 2);
    Thread thief([&] {
      std::array<TaskHeader*, 2> stolen{};
      const std::size_t count = queue.steal(stolen.data(), 2);
      for (std::size_t i = 0; i < count; ++i) ensure(thiefs.push(*stolen[i]));
      tasks.take(thiefs, 1);
    });
    tasks.steal(thiefs, 1);
    tasks.take(queue, 1);
    thief.join();
    tasks.take(queue, 3);
    tasks.take(thiefs, 3);
    tasks.expect_done(3);
  });
}

}  // namespace
}  // namespace rouse::model
