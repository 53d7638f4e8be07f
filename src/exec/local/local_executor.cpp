#include "rouse/exec/local_executor.hpp"

#include "rouse/exec/block_on.hpp"

#include "exec/local/local_core.hpp"

namespace rouse {

using namespace internal;

LocalExecutor::LocalExecutor() : core_(RefPtr<LocalCore>::adopt(new LocalCore(nullptr))) {}
LocalExecutor::LocalExecutor(Park& park) : core_(RefPtr<LocalCore>::adopt(new LocalCore(&park))) {}
LocalExecutor::~LocalExecutor() { core_->close(); }

Spawner LocalExecutor::spawner() const { return Spawner(RefPtr<Scheduler>::share(core_.get())); }
Scheduler& LocalExecutor::scheduler() const noexcept { return *core_; }

internal::LocalOwner::LocalOwner(LocalCore& core, const char* call) noexcept : core_(core) {
  refuse_to_block(call);
  notice_thread_end();
  core_.own();
}
internal::LocalOwner::~LocalOwner() { core_.leave(); }

void LocalExecutor::run() {
  const LocalOwner owner(*core_, "LocalExecutor::run");
  core_->prepare_to_run(*core_);
  core_->run();
}
void LocalExecutor::run_until_ready(internal::BlockedFuture& future, std::source_location where) {
  const LocalOwner owner(*core_, "LocalExecutor::run");  // first: only this thread polls it
  core_->prepare_to_run(
      *core_);  // first: once the task is there, nothing may keep this from running it
  auto main = spawn(internal::ByReference(future), where);
  core_->run_while([&] { return !main.is_finished(); });
  Context cx(Waker::noop());
  main.poll(cx).value();  // ready; throws if it was cancelled
}

void LocalExecutor::on_unhandled(UnhandledHook hook) { core_->set_on_unhandled(std::move(hook)); }

PoolMetrics LocalExecutor::metrics() const { return core_->metrics(); }
void LocalExecutor::add_blocking_pool(const BlockingOptions& options) {
  core_->add_blocking_pool(options);
}
void LocalExecutor::set_drivers(RefPtr<TimerDrivers> drivers) {
  core_->set_drivers(std::move(drivers));
}
void LocalExecutor::set_hooks(const ThreadPoolOptions& options) { core_->set_hooks(options); }
std::size_t LocalExecutor::live_tasks() const noexcept { return core_->live_tasks(); }

}  // namespace rouse
