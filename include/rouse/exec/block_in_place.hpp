// block_in_place(fn): runs a blocking function inside a task of a ThreadPool, without a task of its
// own. First it hands the thread's worker, with all its queued tasks, to another thread. For a few
// long calls; a call that can be moved away is cheaper in spawn_blocking.
//
// Meanwhile the thread counts towards BlockingOptions::max_threads, of which one is reserved for
// spawn_blocking. If they are used up, or the system can't start a thread, it keeps its worker: the
// other workers take its queued tasks, and if all workers block, everybody waits.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::internal {
class Worker;
}  // namespace rouse::internal

namespace rouse {

/// This thread may block while it lives. In a task of a LocalExecutor: aborts with a message,
/// because no other thread could run its tasks. Outside of tasks it changes nothing. It must be
/// destroyed in the poll that created it: a co_await in between aborts with a message.
class ROUSE_API BlockingRegion {
 public:
  BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;
  ~BlockingRegion();

 private:
  const void* thread_;  // whose thread-local it changed
  bool could_block_;
  internal::Worker* kept_ = nullptr;
};

/// Returns or throws what `fn` does. Inside, blocking is allowed (even block_on). The rest of this
/// poll runs on the same thread, but other branches of a join or select wait for it.
template <class Fn>
auto block_in_place(Fn&& fn) -> std::invoke_result_t<Fn> {
  const BlockingRegion region;
  return std::forward<Fn>(fn)();
}

}  // namespace rouse
