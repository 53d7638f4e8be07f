// Models of who sleeps and who is woken: workers that look at the injection queue, go to sleep and
// are woken as PoolCore's are, but have nothing else to do. No task is left behind.
#include "exec/pool/idle_workers.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/park/worker_park.hpp"
#include "exec/pool/injection_queue.hpp"
#include "tasks.hpp"

namespace rouse::model {

using namespace internal;
namespace {

class Nothing {
 public:
  using Output = Number;
  Nothing() noexcept {}
  Poll<Number> poll(Context&) { return Poll<Number>::ready(1); }
};

template <std::size_t count>
class Sleepers {
 public:
  /// From outside.
  void inject(TaskHeader& task) {
    ensure(queue_.push(task), "it is open");
    if (idle_.wants_waking_for_injected()) wake_one();
  }
  /// A worker, until `all` tasks were taken. `together`: a task ends when all have begun.
  void work(std::size_t index, int all, bool together = false) {
    Worker& self = *reinterpret_cast<Worker*>(&parks_[index]);
    bool searching = idle_.start_search();
    for (;;) {
      if (searching && take()) {
        if (idle_.stop_search() && !queue_.empty() && idle_.wants_waking()) wake_one();
        searching = false;
        while (together && taken_.load(memory_order_relaxed) != all) spin_hint();
        if (taken_.load(memory_order_relaxed) == all) return wake_all();
        searching = idle_.start_search();
        continue;
      }
      idle_.sleep(self, searching);
      if (!queue_.empty() && idle_.wants_waking()) wake_one();
      while (taken_.load(memory_order_relaxed) != all && idle_.is_sleeping(self)) {
        parks_[index].park(seat_, Park::for_ever);
      }
      const bool was_chosen = !idle_.wake_up(self);
      if (taken_.load(memory_order_relaxed) == all) return;
      searching = was_chosen || idle_.start_search();
    }
  }

 private:
  bool take() {
    TaskHeader* task = nullptr;
    InjectionQueue::Sampled none;
    if (queue_.take(&task, 1, none) == 0) return false;
    taken_.fetch_add(1, memory_order_relaxed);
    return true;
  }
  void wake_one() {
    if (Worker* worker = idle_.choose()) reinterpret_cast<WorkerPark*>(worker)->unpark(seat_);
  }
  void wake_all() {
    for (WorkerPark& park : parks_) park.unpark(seat_);
  }

  IoSeat seat_{nullptr};
  std::array<WorkerPark, count> parks_;
  IdleWorkers idle_{count};
  InjectionQueue queue_;
  atomic<int> taken_{0};
};

/// Tasks that are passed on, and cancelled at the end.
class Pile {
 public:
  TaskHeader& make() {
    handles_.push_back(scheduler_.spawn<Nothing>());
    return *scheduler_.last();
  }
  ~Pile() { scheduler_.run_mine(); }

 private:
  HandsOn scheduler_;
  std::vector<JoinHandle<Number>> handles_;
};

TEST(IdleWorkersModel, ATaskFromOutsideFindsTheOnlyWorker) {
  check([] {
    Pile pile;
    TaskHeader& task = pile.make();
    Sleepers<1> workers;
    Thread worker([&] { workers.work(0, 1); });
    workers.inject(task);
    worker.join();
  });
}

TEST(IdleWorkersModel, TwoTasksFindTheOnlyWorker) {
  check(
      [] {
        Pile pile;
        TaskHeader& first = pile.make();
        TaskHeader& second = pile.make();
        Sleepers<1> workers;
        Thread worker([&] { workers.work(0, 2); });
        workers.inject(first);
        workers.inject(second);
        worker.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(IdleWorkersModel, OneOfTwoSleepersTakesTheTask) {
  check(
      [] {
        Pile pile;
        TaskHeader& task = pile.make();
        Sleepers<2> workers;
        Thread first([&] { workers.work(0, 1); });
        Thread second([&] { workers.work(1, 1); });
        workers.inject(task);
        first.join();
        second.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(IdleWorkersModel, WhoFindsATaskWakesAnotherForTheNext) {
  check(
      [] {
        Pile pile;
        TaskHeader& first_task = pile.make();
        TaskHeader& second_task = pile.make();
        Sleepers<2> workers;
        Thread first([&] { workers.work(0, 2, true); });
        Thread second([&] { workers.work(1, 2, true); });
        workers.inject(first_task);
        workers.inject(second_task);
        first.join();
        second.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(IdleWorkersModel, TheWatcherIsWokenLast) {
  check([] {
    Worker& seated = *reinterpret_cast<Worker*>(0x1000);
    Worker& watcher = *reinterpret_cast<Worker*>(0x2000);
    IdleWorkers idle(2);
    idle.sleep(seated, false);
    idle.sleep(watcher, false);
    idle.wake_last(watcher);
    ensure(idle.choose() == &seated);
    ensure(idle.stop_search());
    ensure(idle.choose() == &watcher);
    idle.wake_last(watcher);  // no longer asleep: nothing happens
    ensure(idle.last_sleeper() == nullptr);
  });
}

TEST(IdleWorkersModel, TasksOfTwoThreadsFindTheWorker) {
  check(
      [] {
        Pile pile;
        TaskHeader& mine = pile.make();
        TaskHeader& others = pile.make();
        Sleepers<1> workers;
        Thread worker([&] { workers.work(0, 2); });
        Thread other([&] { workers.inject(others); });
        workers.inject(mine);
        worker.join();
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(InjectionQueueModel, EachTaskIsTakenOnceAndInOrder) {
  check([] {
    Pile pile;
    TaskHeader& first = pile.make();
    TaskHeader& second = pile.make();
    InjectionQueue queue;
    std::array<TaskHeader*, 2> elsewhere{};
    Thread other([&] {
      InjectionQueue::Sampled none;
      queue.take(elsewhere.data(), 2, none);
    });
    ensure(queue.push(first));
    ensure(queue.push(second));
    std::array<TaskHeader*, 2> here{};
    InjectionQueue::Sampled none;
    queue.take(here.data(), 2, none);
    other.join();
    for (const auto& taken : {here, elsewhere}) {
      ensure(taken[1] == nullptr || taken == std::array{&first, &second}, "in order");
    }
    const auto times = [&](TaskHeader& task) {
      return std::count(here.begin(), here.end(), &task) +
             std::count(elsewhere.begin(), elsewhere.end(), &task);
    };
    ensure(times(first) == 1 && times(second) == 1, "once");
  });
}

TEST(InjectionQueueModel, WhatIsPushedIntoAQueueThatClosesIsRefusedOrLetGo) {
  check([] {
    Pile pile;
    TaskHeader& task = pile.make();
    InjectionQueue queue;
    Thread other([&] { (void)queue.push(task); });
    queue.close();
    other.join();
    TaskHeader* left = nullptr;
    InjectionQueue::Sampled none;
    ensure(queue.take(&left, 1, none) == 0, "a closed queue is empty");
    ensure(!queue.push(task), "and stays so");
  });
}

}  // namespace
}  // namespace rouse::model
