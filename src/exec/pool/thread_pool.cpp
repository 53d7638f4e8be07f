#include "rouse/exec/thread_pool.hpp"

#include <system_error>

#include "exec/pool/pool_core.hpp"

namespace rouse {

using namespace internal;

namespace {

/// A pool with hooks on its tasks. A class of its own: a pool without them pays nothing.
class HookedPool final : public PoolCore {
 public:
  using PoolCore::PoolCore;

  void submit(TaskHeader& task) override {
    if (options().on_task_spawn) options().on_task_spawn(TaskMeta(task));
    PoolCore::submit(task);
  }

 private:
  void untrack(TaskHeader& task) noexcept override {
    PoolCore::untrack(task);
    if (options().on_task_terminate) options().on_task_terminate(TaskMeta(task));
  }
};

RefPtr<PoolCore> make_core(ThreadPoolOptions options) {
  const bool is_hooked = options.on_task_spawn || options.on_task_terminate;
  return RefPtr<PoolCore>::adopt(is_hooked ? new HookedPool(std::move(options))
                                           : new PoolCore(std::move(options)));
}

}  // namespace

TaskMeta::TaskMeta(const TaskHeader& task) noexcept
    : id(task.id()), name(task.name() ? task.name() : ""), spawned_at(task.spawned_at.source()) {}

ThreadPool::ThreadPool(ThreadPoolOptions options) : core_(make_core(std::move(options))) {
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
