#include "rouse/exec/local_set.hpp"

#include "exec/local/local_core.hpp"

namespace rouse {

using namespace internal;

LocalSet::LocalSet() : core_(RefPtr<LocalCore>::adopt(new LocalCore(nullptr))) {}
LocalSet::~LocalSet() { core_->close(); }

Scheduler& LocalSet::scheduler() const noexcept { return *core_; }

void LocalSet::run_until_ready(Scheduler& spawns_on, BlockedFuture& future,
                               std::source_location where) {
  const LocalOwner owner(*core_, "LocalSet::block_on or run_until");
  // First: once the task is there, nothing may keep this from running it.
  core_->prepare_to_run(spawns_on);
  auto main = spawn_local(ByReference(future), where);
  core_->run_while([&] { return !main.is_finished(); }, spawns_on);
  Context cx(Waker::noop());
  main.poll(cx).value();  // ready; throws if it was cancelled
}

void LocalSet::on_unhandled(UnhandledHook hook) { core_->set_on_unhandled(std::move(hook)); }

std::size_t LocalSet::live_tasks() const noexcept { return core_->live_tasks(); }

}  // namespace rouse
