#include "rouse/exec/thread_pool.hpp"

#include <system_error>

#include "exec/pool_core.hpp"

namespace rouse {

ThreadPool::ThreadPool(ThreadPoolConfig config)
    : core_(RefPtr<PoolCore>::adopt(new PoolCore(std::move(config)))) {
  const Result<void> started = core_->start();
  if (started) return;
  shutdown(std::chrono::nanoseconds::max());
  throw std::system_error(
      started.error(),
      "a ThreadPool could not start its worker threads (too many threads, or no "
      "room for stacks of that size)");
}

ThreadPool::~ThreadPool() { shutdown(std::chrono::nanoseconds::max()); }

bool ThreadPool::shutdown(std::chrono::nanoseconds timeout) {
  const RefPtr<PoolCore> core = std::exchange(core_, nullptr);
  return !core || core->shutdown(timeout);
}

Spawner ThreadPool::spawner() const { return Spawner(RefPtr<Scheduler>::share(&scheduler())); }
PoolMetrics ThreadPool::metrics() const { return static_cast<PoolCore&>(scheduler()).metrics(); }

Scheduler& ThreadPool::scheduler() const noexcept {
  ROUSE_ASSERT(core_, "use of a ThreadPool that was shut down: make another one");
  return *core_;
}

}  // namespace rouse
