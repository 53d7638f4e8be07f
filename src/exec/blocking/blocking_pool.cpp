#include "rouse/exec/blocking_pool.hpp"

#include "rouse/base/assert.hpp"

#include "exec/blocking/blocking_core.hpp"
#include "exec/task/current.hpp"

namespace rouse {

using namespace internal;

BlockingPool::BlockingPool() : BlockingPool(BlockingOptions()) {}
BlockingPool::BlockingPool(BlockingOptions options, Scheduler* owner)
    : core_(make_ref<BlockingCore>(std::move(options), owner)) {}
BlockingPool::BlockingPool(RefPtr<BlockingCore> core) noexcept : core_(std::move(core)) {}
BlockingPool::~BlockingPool() { core_->close(); }

Result<void> BlockingPool::run_thread(const Function<void()>& job) {
  return core_->run_thread(job);
}
Result<void> BlockingPool::replace_thread(const Function<void()>& job) {
  return core_->replace_thread(job);
}
bool BlockingPool::submit_mandatory(TaskHeader& task) { return core_->submit_mandatory(task); }
void BlockingPool::close() noexcept { core_->close(); }
bool BlockingPool::wait(std::chrono::nanoseconds timeout) { return core_->wait(timeout); }
BlockingMetrics BlockingPool::metrics() const noexcept { return core_->metrics(); }
bool BlockingPool::is_idle() const noexcept { return core_->is_idle(); }
Scheduler& BlockingPool::scheduler() const noexcept { return *core_; }

BlockingPool& internal::current_blocking_pool() noexcept {
  BlockingPool* pool = this_thread.scheduler ? this_thread.scheduler->blocking_pool() : nullptr;
  ROUSE_ASSERT(pool,
               "spawn_blocking without a Runtime: the executor of this task, if there is one, has "
               "no threads for blocking calls. Call it inside a task of a Runtime, or use the "
               "spawn of a BlockingPool");
  return *pool;
}

}  // namespace rouse
