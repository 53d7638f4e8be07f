#include "rouse/exec/scheduler.hpp"

#include <string>

#include "rouse/exec/driver.hpp"
#include "rouse/exec/spawner.hpp"

#include "exec/current.hpp"

namespace rouse {
namespace {

constexpr TaskId id_block = 1024;
atomic<TaskId> next_id_block{1};
constinit thread_local TaskId next_id = 0;
constinit thread_local TaskId id_end = 0;

constinit thread_local bool are_gone = false;
struct ThreadEnd {
  ~ThreadEnd() { are_gone = true; }
};

}  // namespace

void notice_thread_end() noexcept {
  if constexpr (!model_checker) {  // whose threads are fibers
    static const thread_local ThreadEnd end;
  }
}
bool thread_locals_are_gone() noexcept { return are_gone; }

constinit thread_local ThreadContext this_thread;

Scheduler::~Scheduler() = default;
Surroundings::~Surroundings() = default;
Drivers::~Drivers() = default;

Scheduler* Scheduler::current() noexcept { return this_thread.scheduler; }

// A thread takes ids in blocks, so that a spawn costs no shared counter.
TaskId next_task_id() noexcept {
  if (next_id == id_end) {
    next_id = next_id_block.fetch_add(id_block, memory_order_relaxed);
    id_end = next_id + id_block;
  }
  return next_id++;
}

Scheduler& current_scheduler() noexcept {
  ROUSE_ASSERT(
      this_thread.scheduler != nullptr,
      "spawn without an executor: no task is running on this thread. Call it inside a task "
      "(rouse::run(async_main) runs one), or use rt.spawn of a Runtime or a Spawner, or "
      "keep `auto here = rt.enter();` meanwhile");
  return *this_thread.scheduler;
}

Spawner Spawner::current() { return Spawner(RefPtr<Scheduler>::share(&current_scheduler())); }

void refuse_borrower(const char* coroutine, std::source_location where) noexcept {
  const std::string spawned =
      std::string("spawned at ") + where.file_name() + ":" + std::to_string(where.line());
  assert_failed(where.file_name(), static_cast<int>(where.line()),
                "spawn of a coroutine that borrows (a reference, a pointer, a view, `this` or a "
                "lambda's captures), which may be gone while the task runs. Write "
                "spawn(fn, args...) instead of spawn(fn(args...)): the task then owns them; or "
                "spawn(borrowed(fn(args...))) if you see to it that they live long enough",
                coroutine, spawned.c_str());
}

JoinError::JoinError(TaskId id)
    : std::runtime_error(
          id == 0 ? "a child of parallel or scope was cancelled, because the executor that ran it "
                    "ended: let it live until the await is over"
                  : "task " + std::to_string(id) + " was cancelled before it was done"),
      id_(id) {}
JoinError::~JoinError() = default;

}  // namespace rouse
