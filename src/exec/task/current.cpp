#include "exec/task/current.hpp"

#include "rouse/base/assert.hpp"
#include "rouse/base/thread.hpp"

#include "exec/task/worker_counters.hpp"

namespace rouse::internal {
namespace {

constinit thread_local bool are_gone = false;
struct ThreadEnd {
  ~ThreadEnd() { are_gone = true; }
};

void count_used_up(PollEnd&) noexcept {
  if (this_thread.counters != nullptr) this_thread.counters->budgets_used_up.add();
}
[[maybe_unused]] const bool budgets_are_counted = [] {
  budget_used_up.run = count_used_up;
  return true;
}();

[[maybe_unused]] const bool assertions_are_told = [] {
  tell_assertions_of_tasks();
  return true;
}();

}  // namespace

constinit thread_local ThreadContext this_thread;

void notice_thread_end() noexcept {
  if constexpr (!model_checker) {  // whose threads are fibers
    static const thread_local ThreadEnd end;
  }
}
bool thread_locals_are_gone() noexcept { return are_gone; }

void refuse_to_outlive_its_poll() noexcept {
  assert_failed(__FILE__, __LINE__,
                "a BlockingRegion was kept across a co_await: the thread that may block is another "
                "one then. End it before, or write block_in_place(fn)");
}

DriverContext* shared_context_of(Scheduler* scheduler) noexcept {
  TimerDrivers* drivers = scheduler ? scheduler->drivers() : nullptr;
  return drivers ? &drivers->shared_context() : nullptr;
}

}  // namespace rouse::internal
