#include "rouse/exec/block_in_place.hpp"

#include "rouse/base/assert.hpp"

#include "exec/pool_core.hpp"

namespace rouse {

BlockingRegion::BlockingRegion() : could_block_(this_thread.may_block) {
  ROUSE_ASSERT(this_thread.local == nullptr || this_thread.task == nullptr || could_block_,
               "block_in_place in a task of a LocalExecutor or a current-thread runtime would stop "
               "all of its tasks: use spawn_blocking, or a runtime with worker threads");
  if (could_block_) return;
  if (this_thread.poll) this_thread.poll->run_poll_ends();  // what waits for them must not block
  ROUSE_ASSERT(this_thread.worker == nullptr || !this_thread.worker->is_driving,
               "block_in_place in a waker that a driver calls: wakers must not block, wake a task "
               "that does");
  kept_ = PoolCore::begin_blocking();
  this_thread.may_block = true;
}

BlockingRegion::~BlockingRegion() {
  this_thread.may_block = could_block_;
  PoolCore::end_blocking(kept_);
}

}  // namespace rouse
