#include "rouse/exec/local_executor.hpp"

#include "rouse/exec/spawn_local.hpp"

#include "exec/local_core.hpp"

namespace rouse {

LocalExecutor::LocalExecutor() : core_(RefPtr<LocalCore>::adopt(new LocalCore(nullptr))) {}
LocalExecutor::LocalExecutor(Park& park) : core_(RefPtr<LocalCore>::adopt(new LocalCore(&park))) {}
LocalExecutor::~LocalExecutor() { core_->close(); }

Spawner LocalExecutor::spawner() const { return Spawner(RefPtr<Scheduler>::share(core_.get())); }
Scheduler& LocalExecutor::scheduler() const noexcept { return *core_; }

void LocalExecutor::run() {
  get_ready();
  core_->run();
}
void LocalExecutor::get_ready() { core_->get_ready(*core_); }
void LocalExecutor::run_while(const std::function<bool()>& more) noexcept {
  core_->run_while(more);
}

void LocalExecutor::on_unhandled(UnhandledHook hook) { core_->set_on_unhandled(std::move(hook)); }

PoolMetrics LocalExecutor::metrics() const { return core_->metrics(); }
void LocalExecutor::add_blocking_pool(const BlockingOptions& options) {
  core_->add_blocking_pool(options);
}
void LocalExecutor::set_drivers(RefPtr<Drivers> drivers) { core_->set_drivers(std::move(drivers)); }
std::size_t LocalExecutor::live_tasks() const noexcept { return core_->live_tasks(); }

Scheduler& current_local_scheduler() noexcept {
  ROUSE_ASSERT(this_thread.local != nullptr,
               "spawn_local outside of a LocalExecutor or LocalSet: this thread runs neither. Call "
               "it inside LocalExecutor::run_until or LocalSet::block_on, or use spawn for a task "
               "that may run on any thread");
  return *this_thread.local;
}

}  // namespace rouse
