// Models of a worker whose tasks are robbed: what waits in its LIFO slot and in the batch it took
// from its queue. The owner pushes and takes as it always does, thieves rob. Every task is run
// once, and who runs it sees what was written before it was pushed.
#include <array>
#include <span>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/pool/worker.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// A worker that never asks for its pool.
class Robbed {
 public:
  Worker worker{reinterpret_cast<PoolCore&>(nobody_), 0, nullptr};

 private:
  alignas(64) char nobody_[64] = {};
};

/// Stands for tasks: a worker only passes their addresses on.
template <std::size_t count>
class Tasks {
 public:
  TaskHeader& ready(std::size_t index) {
    entries_[index].content.write() = 1;
    return reinterpret_cast<TaskHeader&>(entries_[index]);
  }
  void run(TaskHeader* task) {
    auto& entry = reinterpret_cast<Entry&>(*task);
    ensure(entry.content.read() == 1, "nobody has run it");
    entry.content.write() = 2;
    done_.fetch_add(1, memory_order_relaxed);
  }
  /// True: there was one.
  bool run_next(Worker& worker) {
    TaskHeader* task = worker.next();
    if (task != nullptr) run(task);
    return task != nullptr;
  }
  void rob(Worker& worker) {
    std::array<TaskHeader*, Worker::max_robbed> room{};
    for (TaskHeader* task : worker.rob(room)) run(task);
  }
  int done() const { return done_.load(memory_order_relaxed); }
  void finish(Worker& worker, int all) {
    while (run_next(worker)) {
    }
    ensure(done() == all, "every task is run");
    ensure(!worker.has_own_work());
  }

 private:
  struct Entry {
    alignas(TaskHeader) Cell<int> content{0};
  };
  std::array<Entry, count> entries_;
  atomic<int> done_{0};
};

TEST(RobberyModel, OfTheLifoSlot) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<1> tasks;
    Thread thief([&] { tasks.rob(worker); });
    worker.push_lifo(tasks.ready(0));
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, 1);
  });
}

TEST(RobberyModel, OfATaskThatIsPushedOutOfTheSlot) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<2> tasks;
    worker.push_lifo(tasks.ready(0));
    Thread thief([&] { tasks.rob(worker); });
    worker.push_lifo(tasks.ready(1));
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, 2);
  });
}

TEST(RobberyModel, OfTheBatch) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<3> tasks;
    for (std::size_t i = 0; i < 3; ++i) worker.put_in_queue(tasks.ready(i));
    tasks.run_next(worker);  // has taken the second, too
    Thread thief([&] { tasks.rob(worker); });
    tasks.run_next(worker);
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, 3);
  });
}

TEST(RobberyModel, OfABatchThatWasPushedAndTakenMeanwhile) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<2> tasks;
    Thread thief([&] { tasks.rob(worker); });
    for (std::size_t i = 0; i < 2; ++i) worker.put_in_queue(tasks.ready(i));
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, 2);
  });
}

TEST(RobberyModel, OfTheNextBatchInsteadOfTheOneThatTheThiefHadSeen) {
  check(
      [] {
        Robbed robbed;
        Worker& worker = robbed.worker;
        Tasks<4> tasks;
        for (std::size_t i = 0; i < 2; ++i) worker.put_in_queue(tasks.ready(i));
        tasks.run_next(worker);
        Thread thief([&] { tasks.rob(worker); });
        tasks.run_next(worker);
        for (std::size_t i = 2; i < 4; ++i) worker.put_in_queue(tasks.ready(i));
        tasks.run_next(worker);
        thief.join();
        tasks.finish(worker, 4);
      },
      {.preemption_bound = 4});
}

TEST(RobberyModel, OfSlotAndBatchWhileTheBatchIsTaken) {
  check(
      [] {
        Robbed robbed;
        Worker& worker = robbed.worker;
        Tasks<4> tasks;
        for (std::size_t i = 0; i < 3; ++i) worker.put_in_queue(tasks.ready(i));
        Thread thief([&] { tasks.rob(worker); });
        tasks.run_next(worker);
        worker.push_lifo(tasks.ready(3));
        tasks.run_next(worker);
        thief.join();
        tasks.finish(worker, 4);
      },
      {.preemption_bound = 3});
}

TEST(RobberyModel, ByTwoThieves) {
  check(
      [] {
        Robbed robbed;
        Worker& worker = robbed.worker;
        Tasks<3> tasks;
        worker.push_lifo(tasks.ready(0));
        Thread first([&] { tasks.rob(worker); });
        Thread second([&] { tasks.rob(worker); });
        worker.push_lifo(tasks.ready(1));
        worker.push_lifo(tasks.ready(2));
        tasks.run_next(worker);
        first.join();
        second.join();
        tasks.finish(worker, 3);
      },
      {.preemption_bound = 2});
}

TEST(RobberyModel, OfATaskThatComesBackToTheSlotItWasRobbedFrom) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<1> tasks;
    worker.push_lifo(tasks.ready(0));
    atomic<bool> was_run{false};
    Thread thief([&] {
      tasks.rob(worker);
      // ORDER: release; whoever wakes the task anew comes after its poll.
      if (tasks.done() == 1) was_run.store(true, memory_order_release);
    });
    int all = 1;
    // ORDER: acquire; as above.
    if (was_run.load(memory_order_acquire)) {
      worker.push_lifo(tasks.ready(0));
      ++all;
    }
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, all);
  });
}

TEST(RobberyModel, OfATaskThatComesBackToTheQueueOfWhomItWasRobbedFrom) {
  check([] {
    Robbed robbed;
    Worker& worker = robbed.worker;
    Tasks<1> tasks;
    worker.push_lifo(tasks.ready(0));
    atomic<bool> was_run{false};
    Thread thief([&] {
      tasks.rob(worker);
      // ORDER: release; whoever wakes the task anew comes after its poll.
      if (tasks.done() == 1) was_run.store(true, memory_order_release);
    });
    int all = 1;
    // ORDER: acquire; as above.
    if (was_run.load(memory_order_acquire)) {
      worker.push(tasks.ready(0));
      ++all;
    }
    tasks.run_next(worker);
    thief.join();
    tasks.finish(worker, all);
  });
}

}  // namespace
}  // namespace rouse::model
