#include "rouse/exec/spawner.hpp"

#include <string>

#include "rouse/base/assert.hpp"

#include "exec/task/current.hpp"

namespace rouse {

using namespace internal;

Scheduler& internal::current_scheduler() noexcept {
  ROUSE_ASSERT(
      this_thread.scheduler != nullptr,
      "spawn without an executor: no task is running on this thread. Call it inside a task "
      "(rouse::run(async_main) runs one), or use rt.spawn of a Runtime or a Spawner, or "
      "keep `auto here = rt.enter();` meanwhile");
  return *this_thread.scheduler;
}

Spawner Spawner::current() { return Spawner(RefPtr<Scheduler>::share(&current_scheduler())); }

void internal::refuse_borrower(const char* coroutine, std::source_location where) noexcept {
  const std::string spawned =
      std::string("spawned at ") + where.file_name() + ":" + std::to_string(where.line());
  assert_failed(where.file_name(), static_cast<int>(where.line()),
                "spawn of a coroutine that borrows (a reference, a pointer, a view, `this` or a "
                "lambda's captures), which may be gone while the task runs. Write "
                "spawn(fn, args...) instead of spawn(fn(args...)): the task then owns them; or "
                "spawn(borrowed(fn(args...))) if you see to it that they live long enough",
                coroutine, spawned.c_str());
}

}  // namespace rouse
