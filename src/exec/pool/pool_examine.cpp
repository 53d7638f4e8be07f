// PoolCore, seen by an examiner. The protocol: examination.hpp.
#include <array>
#include <new>
#include <type_traits>

#include "exec/park/deadline.hpp"
#include "exec/pool/examination.hpp"
#include "exec/pool/pool_core.hpp"
#include "sys/heavy_fence.hpp"
#include "sys/memory.hpp"

namespace rouse::internal {
namespace {

/// Tasks that are looked at again: as many as there may be workers on a large machine.
constexpr std::size_t most_busy = 256;

/// Between two looks.
void pause() {
  Mutex mutex;
  CondVar nobody_notifies;
  Lock lock(mutex);
  wait_for(nobody_notifies, lock, std::chrono::microseconds(200));
}

SeenTask seen_still(const TaskHeader& task, TaskState::Word word, bool is_closing) noexcept {
  using enum TaskState::Bits;
  if ((word & active) != 0) return SeenTask(task, SeenTask::State::queued, true);
  const std::int64_t owners = 1 + ((word & join_interest) != 0 ? 1 : 0);
  // While it ends, timers and the like have let go of wakers.
  const std::int64_t wakers = is_closing ? -1 : refs_of(word) - owners;
  return SeenTask(task, SeenTask::State::idle, true, wakers);
}

}  // namespace

/// What HeldTasks needs to know.
class PoolCore::Examiner {
 public:
  Examiner(PoolCore& pool, TaskVisitor& visitor) noexcept
      : pool_(pool), visitor_(visitor), held_(*this) {}

  /// False: the pool's tasks can't be examined any more.
  bool look_at(const TaskTable& table) {
    TaskTable::Place place;
    for (TaskTable::Slot* slot = table.next_slot(place); slot != nullptr;
         slot = table.next_slot(place)) {
      held_.add(*slot);
      if (held_.is_full() && !show(false)) return false;
    }
    return show(false);
  }
  /// Once more at those that were polled. True: there is nothing left to look at.
  bool look_again(bool for_the_last_time) {
    std::size_t left = std::exchange(busy_count_, 0);
    const std::array<TaskTable::Slot*, most_busy> busy = busy_;
    while (left != 0) {
      while (left != 0 && !held_.is_full()) held_.add(*busy[--left]);
      if (!show(for_the_last_time)) return true;
    }
    return busy_count_ == 0;
  }

  // --- For HeldTasks. ---

  bool fence() const noexcept { return sys::heavy_fence(); }
  bool is_polled(const TaskHeader& task) const noexcept {
    for (const auto& worker : pool_.workers_) {
      if (worker->current.is(task)) return true;
    }
    return false;
  }
  /// Not on a queue of this thread's own worker, which may be long in coming back to it.
  void requeue(TaskHeader& task) const noexcept { pool_.inject(task); }

 private:
  bool show(bool for_the_last_time) {
    {
      const Lock lock(pool_.examine_mutex_);
      if (pool_.is_examined_no_more_) {
        held_.let_go();
        return false;
      }
      held_.show([&](TaskHeader& task, TaskState::Word word) { see_still(task, word); },
                 [&](TaskHeader& task, TaskState::Word word, TaskTable::Slot& slot) {
                   const bool is_own = this_thread.task == &task;
                   if (is_own || for_the_last_time || busy_count_ == most_busy) {
                     see_busy(task, word);
                   } else {
                     busy_[busy_count_++] = &slot;
                   }
                 });
    }
    pool_.drop_handed_over(pool_.handed_over_.take());
    return true;
  }
  void see_still(const TaskHeader& task, TaskState::Word word) {
    visitor_.see(seen_still(task, word, pool_.is_closing()));
  }
  /// Not even the task that this thread polls is read: its future may be in the midst of its
  /// destruction.
  void see_busy(const TaskHeader& task, TaskState::Word word) {
    if ((word & TaskState::away) != 0) {
      return visitor_.see(SeenTask(task, SeenTask::State::blocking, false));
    }
    const SeenTask seen(task, SeenTask::State::running, false);
    for (const auto& worker : pool_.workers_) {
      if (worker->current.is(task)) return visitor_.see_running(seen, poll_of(*worker));
    }
    visitor_.see(seen);
  }

  PoolCore& pool_;
  TaskVisitor& visitor_;
  HeldTasks<Examiner> held_;
  std::array<TaskTable::Slot*, most_busy> busy_;
  std::size_t busy_count_ = 0;
};

void PoolCore::examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) {
  if constexpr (!model_checker) sys::prepare_heavy_fence();
  handed_over_.open();
  if (sys::heavy_fence()) {
    Examiner examiner(*this, visitor);
    bool goes_on = true;
    for (const auto& worker : workers_) goes_on = goes_on && examiner.look_at(worker->table);
    if (goes_on && examiner.look_at(outside_)) {
      const Deadline deadline(patience);
      while (!examiner.look_again(deadline.left() == std::chrono::nanoseconds(0))) pause();
    }
  } else {
    visitor.cannot_see(
        "no membarrier(2): the kernel is older than 4.14, or a filter of system calls forbids it: "
        "allow it");
  }
  drop_handed_over(handed_over_.close());
}

/// Many tasks, held together. In pages of its own: it is too large for a stack.
class PoolCore::AtOnce {
 public:
  explicit AtOnce(PoolCore& pool) noexcept : pool_(pool), held_(*this) {}

  void hold(const TaskTable& table, std::span<const TaskId> ids) {
    TaskTable::Place place;
    for (TaskTable::Slot* slot = table.next_slot(place); slot != nullptr && !held_.is_full();
         slot = table.next_slot(place)) {
      // ORDER: acquire; sees the task.
      const TaskHeader* const task = slot->load(memory_order_acquire);
      if (task != nullptr && is_among(ids, task->id())) held_.add(*slot);
    }
  }
  void show(std::size_t all, TaskVisitor& visitor) {
    const Lock lock(pool_.examine_mutex_);
    if (pool_.is_examined_no_more_ || held_.size() != all) return held_.let_go();
    held_.show_if_all_are_idle([&](TaskHeader& task, TaskState::Word word) {
      visitor.see(seen_still(task, word, pool_.is_closing()));
    });
  }

  // --- For HeldTasks. ---

  void requeue(TaskHeader& task) const noexcept { pool_.inject(task); }

 private:
  PoolCore& pool_;
  HeldTasks<AtOnce, most_at_once> held_;
};

void PoolCore::examine_at_once(std::span<const TaskId> ids, TaskVisitor& visitor) {
  constexpr std::size_t page = 65536;
  constexpr std::size_t size = (sizeof(AtOnce) + page - 1) / page * page;
  static_assert(std::is_trivially_destructible_v<AtOnce>);
  void* const pages = sys::map_pages(size, page);
  if (pages == nullptr) return;
  handed_over_.open();
  if (sys::heavy_fence()) {
    AtOnce& held = *new (pages) AtOnce(*this);
    for (const auto& worker : workers_) held.hold(worker->table, ids);
    held.hold(outside_, ids);
    held.show(ids.size(), visitor);
  }
  drop_handed_over(handed_over_.close());
  static_cast<void>(sys::unmap_pages(pages, size));
}

PollUnderWay PoolCore::poll_of(const Worker& worker) noexcept {
  return PollUnderWay{.of = &worker,
                      .task = worker.current.get(),
                      .polls = &worker.counters.polls,
                      .number = worker.counters.polls.get(),
                      .thread = worker.polled_by.thread()};
}

void PoolCore::show_polls(PollVisitor& visitor) noexcept {
  for (const auto& worker : workers_) {
    const PollUnderWay poll = poll_of(*worker);
    const bool may_last = poll.task != nullptr && poll.thread != 0 && worker->counters.is_awake();
    if (may_last) visitor.see(poll);
  }
}

/// The sweep begins.
void PoolCore::end_examinations() noexcept {
  const Lock lock(examine_mutex_);
  is_examined_no_more_ = true;
}

}  // namespace rouse::internal
