#include "rouse/exec/thread_pool.hpp"

#include "exec/pool_core.hpp"

namespace rouse {

ThreadPool::ThreadPool(ThreadPoolConfig config)
    : core_(RefPtr<PoolCore>::adopt(new PoolCore(std::move(config)))) {
  for (std::size_t i = 0; i < core_->workers(); ++i) {
    auto thread = std::make_shared<Thread>([core = core_, i] { core->run_worker(i); });
    joins_.emplace_back([thread] { thread->join(); });
  }
}

ThreadPool::~ThreadPool() {
  ROUSE_ASSERT(!core_->is_inside(),
               "a ThreadPool was destroyed inside one of its own tasks, which would wait for "
               "itself: let the thread that made it destroy it");
  core_->close();
  core_->wait_closed();
  for (auto& join : joins_) join();
}

Spawner ThreadPool::spawner() const { return Spawner(RefPtr<Scheduler>::share(core_.get())); }
Scheduler& ThreadPool::scheduler() const noexcept { return *core_; }
void ThreadPool::close() noexcept { core_->close(); }
PoolMetrics ThreadPool::metrics() const { return core_->metrics(); }

}  // namespace rouse
