// block_in_place(fn): runs a function that blocks inside a task of a ThreadPool, without a task of
// its own. The thread's worker, with all tasks that wait there, is given to another thread first.
// For a few long calls; a call that can be moved away is cheaper in spawn_blocking.
//
// The thread counts as one of BlockingOptions::max_threads meanwhile, of which one is left for
// spawn_blocking. If they are used up, or the system starts no thread, it keeps its worker: the
// tasks that wait there are left to the other workers, and if all block, everybody waits.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"

namespace rouse {

class Worker;

/// This thread may block while it lives. In a task of a LocalExecutor: aborts with a hint, because
/// there is no other thread that could go on with its tasks. Outside of tasks it changes nothing.
/// It ends in the poll that made it: a co_await in between aborts with a hint.
class ROUSE_API BlockingRegion {
 public:
  BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;
  ~BlockingRegion();

 private:
  const void* thread_;  // whose thread-local it changed
  bool could_block_;
  Worker* kept_ = nullptr;
};

/// What `fn` returns or throws. Inside, blocking is allowed (also block_on). The rest of this poll
/// runs on the same thread, but other branches of a join or select wait for it.
template <class Fn>
auto block_in_place(Fn&& fn) -> std::invoke_result_t<Fn> {
  const BlockingRegion region;
  return std::forward<Fn>(fn)();
}

}  // namespace rouse
