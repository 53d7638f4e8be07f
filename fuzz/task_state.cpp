// The life of a task, on both kinds of scheduler: that of many threads (SharedTaskState), driven by
// hand so that any task of the queue may be next, and that of a LocalExecutor (LocalTaskState),
// with operations from its own thread and from outside. What must hold is in task_run.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/unhandled.hpp"

#include "exec/task/shared_scheduler.hpp"
#include "input.hpp"
#include "slot.hpp"
#include "task_run.hpp"

namespace rouse::fuzz {

using namespace internal;
namespace {

class ManualScheduler final : public SharedScheduler {
 public:
  explicit ManualScheduler(UnhandledHook hook) : SharedScheduler(std::move(hook)) { ++alive; }
  ~ManualScheduler() override {
    require(tasks_ == 0, "a scheduler lives as long as its tasks");
    --alive;
  }

  void submit(TaskHeader& task) override {
    add_ref();
    ++tasks_;
    if (refuses) return cancel_now(task);
    unfinished_.push_back(&task);
    queue_.push_back(&task);
  }
  [[nodiscard]] bool is_idle() const noexcept { return queue_.empty(); }
  /// Polls the task at that place of the queue.
  void run_one(std::size_t place) {
    const auto at = queue_.begin() + static_cast<std::ptrdiff_t>(place % queue_.size());
    TaskHeader& task = **at;
    queue_.erase(at);
    require(std::ranges::find(queue_, &task) == queue_.end(), "a task is in the queue once");
    if (run(task, nullptr) == Ran::again) queue_.push_back(&task);
  }
  void close() {
    closed_ = true;
    queue_.clear();
    while (!unfinished_.empty()) cancel_now(*unfinished_.back());
  }
  static inline std::size_t alive = 0;
  bool refuses = false;  // cancels at once what is spawned, as an executor does that has ended

 private:
  void enqueue(TaskHeader& task, Turn turn) noexcept override {
    if (closed_) return;
    turn == Turn::next ? queue_.push_front(&task) : queue_.push_back(&task);
  }
  void untrack(TaskHeader& task) noexcept override { std::erase(unfinished_, &task); }
  void freed() noexcept override {
    --tasks_;
    release();
  }

  std::deque<TaskHeader*> queue_;
  std::vector<TaskHeader*> unfinished_;
  std::size_t tasks_ = 0;
  bool closed_ = false;
};

void run_shared(Input& input) {
  TaskRun run(input);
  {
    auto scheduler = RefPtr<ManualScheduler>::adopt(
        new ManualScheduler([&run](const UnhandledException&) { ++run.reported; }));
    const Spawner spawner(RefPtr<Scheduler>::share(scheduler.get()));
    run.spawn_from_task = [&] {
      scheduler->refuses = input.flag();
      run.spawn(spawner, scheduler->refuses);
      scheduler->refuses = false;
    };
    while (!input.empty()) {
      const std::size_t kind = input.below(8);
      if (kind == 7 && input.below(8) == 7) break;  // the rest after its end
      if (kind < 2) {
        run.spawn(spawner);
      } else if (kind < 5) {
        if (!scheduler->is_idle()) scheduler->run_one(input.byte());
      } else {
        run.operate();
      }
      run.check();
    }
    while (input.empty() && !scheduler->is_idle()) scheduler->run_one(0);
    if (scheduler->is_idle()) run.check_idle();
    run.executor_ends = true;
    scheduler->close();
  }
  run.ended();
}

/// Operates from inside, so many times, and lets the others have a turn after each.
class Inside {
 public:
  using Output = void;
  Inside(TaskRun& run, LocalExecutor& executor, std::size_t steps) noexcept
      : run_(&run), executor_(&executor), steps_(steps) {}
  Poll<> poll(Context& cx) {
    if (steps_ == 0) return Poll<>::ready();
    if (--steps_ % 4 == 3) run_->spawn(*executor_);
    run_->operate();
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  TaskRun* run_;
  LocalExecutor* executor_;
  std::size_t steps_;
};

void run_local(Input& input) {
  TaskRun run(input);
  {
    LocalExecutor executor;
    executor.on_unhandled([&run](const UnhandledException&) { ++run.reported; });
    run.spawn_from_task = [&] { run.spawn(executor); };
    while (!input.empty()) {
      const std::size_t kind = input.below(8);
      if (kind == 7 && input.below(8) == 7) break;
      if (kind < 2) {
        run.spawn(executor);
      } else if (kind < 4) {
        executor.run_until(Inside(run, executor, input.below(8)));
      } else {
        run.operate();
      }
    }
    if (input.empty()) {
      executor.run_until(Inside(run, executor, 0));
      executor.run_until(Inside(run, executor, 0));
      run.check_idle();
    }
    run.give_exceptions_up();
    run.executor_ends = true;
  }
  run.ended();
}

void run(Input input) {
  input.flag() ? run_local(input) : run_shared(input);
  require(Token::alive == 0, "no outcome is left");
  require(ManualScheduler::alive == 0, "the last waker or handle frees the scheduler");
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
