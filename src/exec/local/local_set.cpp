#include "rouse/exec/local_set.hpp"

#include "rouse/exec/block_on.hpp"

#include "exec/local_core.hpp"

namespace rouse {

LocalSet::LocalSet() : core_(RefPtr<LocalCore>::adopt(new LocalCore(nullptr))) {}
LocalSet::~LocalSet() { core_->close(); }

Scheduler& LocalSet::scheduler() const noexcept { return *core_; }

void LocalSet::get_ready(Scheduler& spawns_on) { core_->get_ready(spawns_on); }
void LocalSet::run_while(const std::function<bool()>& more, Scheduler& spawns_on) noexcept {
  refuse_to_block("LocalSet::block_on or run_until");
  core_->run_while(more, spawns_on);
}

void LocalSet::on_unhandled(UnhandledHook hook) { core_->set_on_unhandled(std::move(hook)); }

std::size_t LocalSet::live_tasks() const noexcept { return core_->live_tasks(); }

}  // namespace rouse
