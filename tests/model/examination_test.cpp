// Models of an examiner beside those who poll, wake, abort, join and complete the tasks that it
// looks at: what it reads nobody writes meanwhile, no task is lost, and none is freed too early.
#include "exec/pool/examination.hpp"

#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/exec/internal/task.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/internal/hooks.hpp"
#include "rouse/model/model.hpp"

#include "exec/fork/branch_group.hpp"
#include "exec/pool/current_task.hpp"
#include "exec/task/shared_scheduler.hpp"
#include "sys/heavy_fence.hpp"
#include "tasks.hpp"

namespace rouse::model {
namespace {

/// Ready once it was polled `polls` times. Whoever polls it writes what the examiner reads.
class Written {
 public:
  using Output = Number;
  Written(int polls, AtomicWaker* waker, bool wakes_itself) noexcept
      : left_(polls), wakes_itself_(wakes_itself), waker_(waker) {}

  Poll<Number> poll(Context& cx) {
    if (waker_ != nullptr) waker_->register_waker(cx.waker());
    left_.write() -= 1;
    if (left_.read() == 0) return Poll<Number>::ready(42);
    if (wakes_itself_) cx.waker().wake_by_ref();
    return pending;
  }
  int read() const { return left_.read(); }

 private:
  Cell<int> left_;
  bool wakes_itself_;
  AtomicWaker* waker_;
};

class Examined;

/// Its first poll gives its worker away, and goes on.
class Blocks {
 public:
  using Output = Number;
  Blocks(Examined& pool, Thread& replacement, bool wakes_itself) noexcept
      : pool_(pool), replacement_(replacement), wakes_itself_(wakes_itself) {}
  Poll<Number> poll(Context& cx);
  int read() const { return written_.read(); }

 private:
  Examined& pool_;
  Thread& replacement_;
  const bool wakes_itself_;
  Cell<int> written_{0};
};

/// The task of a branch: polls what its parent may destroy.
class Branch {
 public:
  using Output = Number;
  Branch(BranchGroup& group, Cell<int>& child) noexcept : group_(group), child_(child) {}
  Poll<Number> poll(Context&) {
    if (!group_.enter()) return Poll<Number>::ready(0);
    child_.write() += 1;
    group_.leave(false);
    return pending;
  }
  /// As TaskWalk does; or as if no parent ended it.
  void show(bool asks) const {
    const auto read = [this] { ensure(child_.read() >= 0, "it is not destroyed"); };
    if (asks) return group_.with_children(read);
    read();
  }

 private:
  BranchGroup& group_;
  Cell<int>& child_;
};

/// A pool that is nothing but what an examiner needs. Each thread is a worker, and runs what it
/// enqueues itself.
class Examined final : public SharedScheduler {
 public:
  Examined() : SharedScheduler(nullptr) {}

  template <class F, class... Args>
  JoinHandle<Number> spawn_as(Args&&... args) {
    TaskHeader& task =
        Task<F>::make(*this, std::source_location::current(), std::forward<Args>(args)...);
    submit(task);
    return JoinHandle<Number>(task);
  }
  JoinHandle<Number> spawn(int polls, AtomicWaker* waker = nullptr, bool wakes_itself = false) {
    return spawn_as<Written>(polls, waker, wakes_itself);
  }
  void submit(TaskHeader& task) override {
    last_ = &task;
    table_.insert(task);
    mine().push_back(&task);
  }
  const TaskHeader* last() const noexcept { return last_; }

  void run_mine() noexcept { run_as(current_thread()); }
  /// On the worker of that number, which this thread has.
  void run_as(std::size_t worker) noexcept {
    std::deque<TaskHeader*>& tasks = mine();
    CurrentTask& current = current_[worker];
    this_thread.worker = reinterpret_cast<Worker*>(&current);
    while (!tasks.empty()) {
      TaskHeader* const task = tasks.front();
      tasks.pop_front();
      current.begin(*task);
      const Ran ran = run(*task, nullptr);
      if (ran == Ran::again) tasks.push_back(task);
      if (ran == Ran::away) return;
    }
    current.rest();
    this_thread.worker = nullptr;
  }
  /// Of threads that have ended.
  void run_what_is_left() noexcept {
    for (std::deque<TaskHeader*>& queue : queues_) {
      if (&queue != &mine()) mine().insert(mine().end(), queue.begin(), queue.end());
    }
    run_mine();
  }
  /// As PoolCore::part_with, by a task that is polled.
  void go_away(Thread& replacement) {
    auto* const current = reinterpret_cast<CurrentTask*>(this_thread.worker);
    current->get()->shared_state().go_away();
    this_thread.worker = nullptr;
    replacement = Thread([this, worker = static_cast<std::size_t>(current - current_.data())] {
      spawn(1).detach();
      run_as(worker);
    });
  }

  /// As PoolCore::examine. Gives how many it could read.
  int examine(int looks = 1) {
    int read = 0;
    handed_over_.open();
    ensure(sys::heavy_fence());
    for (int look = 0; look != looks && !is_examined_no_more_; ++look) {
      HeldTasks<Examined> held(*this);
      TaskTable::Place place;
      while (TaskTable::Slot* const slot = table_.next_slot(place)) {
        held.add(*slot);
        if (held.is_full()) show(held, read);
      }
      show(held, read);
      drop_handed_over(handed_over_.take());
    }
    drop_handed_over(handed_over_.close());
    run_mine();
    return read;
  }
  /// As PoolCore::Examiner::hold, of ids that are not there: it reads tasks that it does not hold.
  void look_for_an_id() {
    handed_over_.open();
    ensure(sys::heavy_fence());
    TaskTable::Place place;
    while (TaskTable::Slot* const slot = table_.next_slot(place)) {
      if (slot->load(memory_order_acquire) != nullptr)
        ensure(memory.read() == 0, "it is not freed");
    }
    drop_handed_over(handed_over_.close());
  }
  /// As PoolCore::sweep, when no worker polls any more.
  void sweep() noexcept {
    if (waits_for_examiner) {
      const Lock lock(examine_mutex_);
      is_examined_no_more_ = true;
    }
    TaskTable::Place place;
    while (TaskHeader* const task = table_.next(place)) cancel_now(*task);
  }
  void show(HeldTasks<Examined>& held, int& read) {
    const Lock lock(examine_mutex_);
    if (is_examined_no_more_) return held.let_go();
    held.show(
        [&](const TaskHeader& task, TaskState::Word) {
          ++read;
          if (task.content != TaskHeader::Content::future) return;
          if (&task == branch) {
            static_cast<const Branch*>(task.future())->show(asks_group);
          } else if (&task == blocks) {
            ensure(static_cast<const Blocks*>(task.future())->read() != 1, "it is not polled");
          } else {
            ensure(static_cast<const Written*>(task.future())->read() >= 0);
          }
        },
        [](const TaskHeader& task, TaskState::Word, TaskTable::Slot&) { ensure(task.id() != 0); });
  }

  const TaskHeader* blocks = nullptr;  // a task of Blocks
  const TaskHeader* branch = nullptr;  // a task of Branch
  // What the checker has to find:
  bool waits_for_examiner = true;
  bool asks_group = true;
  Cell<int> memory{0};  // of the only task, in place of its block: 1 once it is freed
  bool has_one_task = false;

  // --- For HeldTasks. ---
  static bool fence() noexcept { return sys::heavy_fence(); }
  bool is_polled(const TaskHeader& task) const noexcept {
    for (const CurrentTask& current : current_) {
      if (current.is(task)) return true;
    }
    return false;
  }
  void requeue(TaskHeader& task) noexcept { mine().push_back(&task); }

 private:
  void end_poll_away(TaskHeader& task, bool is_ready) noexcept override {
    ensure(!is_ready);
    if (!this_thread.woke_itself) {
      if (task.shared_state().end_poll(this_thread.new_refs)) requeue(task);
      return;
    }
    task.shared_state().end_poll_active(this_thread.new_refs);
    task.shared_state().come_back();
    requeue(task);
  }
  void enqueue(TaskHeader& task, Turn) noexcept override { mine().push_back(&task); }
  void untrack(TaskHeader& task) noexcept override { TaskTable::erase(task); }
  void freed() noexcept override {
    if (has_one_task) memory.write() = 1;
  }

  std::deque<TaskHeader*>& mine() noexcept { return queues_[current_thread()]; }

  const TaskHeader* last_ = nullptr;
  Mutex examine_mutex_;
  bool is_examined_no_more_ = false;  // under the lock
  TaskTable table_;
  std::array<std::deque<TaskHeader*>, 3> queues_;
  std::array<CurrentTask, 3> current_;
};

Poll<Number> Blocks::poll(Context& cx) {
  if (written_.read() == 2) return pending;
  written_.write() = 1;
  pool_.go_away(replacement_);
  written_.write() = 2;
  if (wakes_itself_) cx.waker().wake_by_ref();
  return pending;
}

void examine_a_task_that_goes_away(bool wakes_itself) {
  check([wakes_itself] {
    Examined pool;
    Thread replacement;
    auto handle = pool.spawn_as<Blocks>(pool, replacement, wakes_itself);
    pool.blocks = pool.last();
    Thread examiner([&] { pool.examine(); });
    pool.run_mine();
    examiner.join();  // who may have polled it
    replacement.join();
    handle.abort();
    pool.run_what_is_left();
    ensure(handle.is_finished());
  });
}
TEST(ExaminationModel, OfATaskThatGivesItsWorkerAway) { examine_a_task_that_goes_away(false); }
TEST(ExaminationModel, OfATaskThatGivesItsWorkerAwayAndWakesItself) {
  examine_a_task_that_goes_away(true);
}

TEST(ExaminationModel, OfTasksThatTheTableHasToGrowFor) {
  check([] {
    Examined pool;
    Thread other([&] {
      for (int i = 0; i < 3; ++i) pool.spawn(1).detach();
      pool.run_mine();
    });
    pool.examine();
    other.join();
  });
}

TEST(ExaminationModel, OfATaskThatIsLookedForByItsId) {
  check([] {
    Examined pool;
    pool.has_one_task = true;
    Thread examiner([&] { pool.look_for_an_id(); });
    pool.spawn(1).detach();
    pool.run_mine();
    examiner.join();
  });
}

TEST(ExaminationModel, OfATaskThatIsWoken) {
  check([] {
    Examined pool;
    AtomicWaker waker;
    auto handle = pool.spawn(2, &waker);
    pool.run_mine();
    Thread other([&] {
      waker.wake();
      pool.run_mine();
    });
    pool.examine();
    other.join();
    ensure(handle.is_finished(), "no wake is lost");
    ensure(block_on(handle).value() == 42);
  });
}

TEST(ExaminationModel, OfATaskThatWakesItself) {
  check([] {
    Examined pool;
    std::optional<JoinHandle<Number>> handle;
    Thread other([&] {
      handle.emplace(pool.spawn(3, nullptr, true));
      pool.run_mine();
    });
    pool.examine();
    other.join();
    ensure(handle->is_finished());
  });
}

TEST(ExaminationModel, OfATaskThatNobodyJoins) {
  check([] {
    Examined pool;
    Thread other([&] {
      pool.spawn(1).detach();
      pool.run_mine();
    });
    pool.examine(2);
    other.join();
  });
}

TEST(ExaminationModel, OfATaskThatIsJoinedAtOnce) {
  check([] {
    Examined pool;
    AtomicWaker waker;
    auto handle = pool.spawn(2, &waker);
    pool.run_mine();
    Thread other([&, joined = std::move(handle)]() mutable {
      waker.wake();
      pool.run_mine();
      if (joined.is_finished()) ensure(block_on(joined).value() == 42);
    });
    pool.examine();
    other.join();
  });
}

TEST(ExaminationModel, OfATaskThatIsAborted) {
  check([] {
    Examined pool;
    AtomicWaker waker;
    auto handle = pool.spawn(5, &waker);
    pool.run_mine();
    Thread other([&] {
      handle.abort();
      pool.run_mine();
    });
    pool.examine();
    other.join();
    ensure(handle.is_finished());
  });
}

TEST(ExaminationModel, OfATaskThatTwoWake) {
  check([] {
    Examined pool;
    AtomicWaker waker;
    auto handle = pool.spawn(5, &waker);
    pool.run_mine();
    Thread first([&] {
      waker.wake();
      pool.run_mine();
    });
    Thread second([&] {
      waker.wake();
      pool.run_mine();
    });
    pool.examine();
    first.join();
    second.join();
    handle.abort();
    pool.run_mine();
  });
}

/// A task is ended without a queue, by a thread that does not look whether it is held.
auto end_a_task_in_a_sweep(bool waits_for_examiner) {
  return [waits_for_examiner] {
    Examined pool;
    pool.waits_for_examiner = waits_for_examiner;
    auto handle = pool.spawn(5);
    pool.run_mine();
    Thread sweeper([&] { pool.sweep(); });
    pool.examine();
    sweeper.join();
    ensure(handle.is_finished());
  };
}

TEST(ExaminationModel, OfATaskThatASweepEnds) { check(end_a_task_in_a_sweep(true)); }
TEST(ExaminationModel, ASweepThatDoesNotWaitIsFound) {
  EXPECT_TRUE(explore(end_a_task_in_a_sweep(false)).finding.has_value());
}

/// The parent ends its children, which are its own, while their tasks are there.
auto end_a_branch(bool asks_group) {
  return [asks_group] {
    Examined pool;
    pool.asks_group = asks_group;
    const auto group = make_ref<BranchGroup>(nullptr);
    Cell<int> child{0};
    ensure(group->enroll());
    auto handle = pool.spawn_as<Branch>(*group, child);
    pool.branch = pool.last();
    pool.run_mine();
    Thread parent([&] {
      group->cancel_and_wait(1);
      child.write() = -1;
    });
    pool.examine();
    parent.join();
    handle.abort();
    pool.run_mine();
  };
}

TEST(ExaminationModel, OfABranchWhoseParentEndsIt) { check(end_a_branch(true)); }
TEST(ExaminationModel, WhoReadsABranchWithoutItsGroupIsFound) {
  EXPECT_TRUE(explore(end_a_branch(false)).finding.has_value());
}

}  // namespace
}  // namespace rouse::model
