// Models of the workers' run queue: the owner pushes and takes, thieves steal. Every task is taken
// once, and who takes it sees what was written before it was pushed.
#include "exec/local_queue.hpp"

#include <array>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {
namespace {

/// Stands for tasks: the queue only passes their addresses on.
template <std::size_t count>
class Tasks {
 public:
  void push(LocalQueue& queue, std::size_t index) {
    entries_[index].content.write() = 1;
    queue.push(reinterpret_cast<TaskHeader&>(entries_[index]));
  }
  void run(TaskHeader* task) {
    auto& entry = reinterpret_cast<Entry&>(*task);
    ensure(entry.content.read() == 1, "nobody has run it");
    entry.content.write() = 2;
    done_.fetch_add(1, memory_order_relaxed);
  }
  void take(LocalQueue& queue, std::size_t max) {
    std::array<TaskHeader*, count> taken{};
    const std::size_t number = queue.take(taken.data(), max);
    for (std::size_t i = 0; i < number; ++i) run(taken[i]);
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

}  // namespace
}  // namespace rouse::model
