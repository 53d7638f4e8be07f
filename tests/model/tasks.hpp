// Real tasks on a scheduler that is nothing but the task state machine: whoever has to enqueue a
// task runs it itself, so no queue and no lock orders two polls. What orders them is the state.
#pragma once

#include <array>
#include <deque>
#include <source_location>
#include <utility>

#include "rouse/base/cell.hpp"
#include "rouse/exec/internal/task.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/model/internal/hooks.hpp"
#include "rouse/model/model.hpp"

#include "exec/task/shared_scheduler.hpp"

namespace rouse::model {

using namespace internal;

class HandsOn final : public SharedScheduler {
 public:
  HandsOn() : SharedScheduler(nullptr) {}

  template <class F, class... Args>
  JoinHandle<output_t<F>> spawn(Args&&... args) {
    TaskHeader& task =
        Task<F>::make(*this, std::source_location::current(), std::forward<Args>(args)...);
    submit(task);
    return JoinHandle<output_t<F>>(task);
  }

  /// Runs what this thread has to, to the end.
  void run_mine() noexcept {
    std::deque<TaskHeader*>& tasks = mine();
    while (!tasks.empty()) {
      TaskHeader* const task = tasks.front();
      tasks.pop_front();
      if (run(*task, nullptr) == Ran::again) tasks.push_back(task);
    }
  }
  /// The task that was spawned last.
  [[nodiscard]] TaskHeader* last() const noexcept { return last_; }
  /// The end of the executor, for that task.
  void sweep() noexcept { cancel_now(*last_); }

  void submit(TaskHeader& task) override {
    last_ = &task;
    mine().push_back(&task);
  }

 private:
  void enqueue(TaskHeader& task, Turn) noexcept override { mine().push_back(&task); }
  void untrack(TaskHeader&) noexcept override {}
  void freed() noexcept override {}

  std::deque<TaskHeader*>& mine() noexcept { return queues_[current_thread()]; }

  TaskHeader* last_ = nullptr;
  std::array<std::deque<TaskHeader*>, 4> queues_;
};

/// A result of which every use is seen.
class Number {
 public:
  explicit Number(int value) : value_(value) {}
  Number(Number&& other) noexcept : value_(std::exchange(other.value_.write(), -1)) {}
  Number& operator=(Number&&) = delete;
  [[nodiscard]] int value() const { return value_.read(); }

 private:
  Cell<int> value_;
};

}  // namespace rouse::model
