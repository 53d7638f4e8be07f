#include "rouse/exec/block_in_place.hpp"

#include "rouse/base/assert.hpp"

#include "exec/pool/pool_core.hpp"

namespace rouse {

using namespace internal;

BlockingRegion::BlockingRegion() : thread_(&this_thread), could_block_(this_thread.may_block) {
  ROUSE_ASSERT(this_thread.local == nullptr || this_thread.task == nullptr || could_block_,
               "block_in_place in a task of a LocalExecutor or a current-thread runtime would stop "
               "all of its tasks: use spawn_blocking, or a runtime with worker threads");
  ROUSE_ASSERT(this_thread.worker == nullptr || !this_thread.worker->is_driving,
               "block_in_place in a waker, which a worker called as it looked after timers or I/O: "
               "a waker is to return soon, so let it wake a task that blocks");
  if (could_block_) return;
  if (this_thread.poll) this_thread.poll->run_poll_ends();  // what waits for them must not block
  kept_ = PoolCore::begin_blocking();
  this_thread.may_block = true;
}

BlockingRegion::~BlockingRegion() {
  if (thread_ != &this_thread) refuse_to_outlive_its_poll();
  this_thread.may_block = could_block_;
  PoolCore::end_blocking(kept_);
}

}  // namespace rouse
