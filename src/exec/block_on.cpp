#include "rouse/exec/block_on.hpp"

#include "exec/current.hpp"
#include "exec/thread_park.hpp"

namespace rouse {
namespace {

struct SharedPark : RefCounted<SharedPark> {
  void wake() { park.unpark(); }
  ThreadPark park;
};

}  // namespace

ThreadWaker::ThreadWaker() : waker_(make_waker(make_ref<SharedPark>())) {}

void ThreadWaker::wait() {
  const auto* shared = static_cast<const SharedPark*>(waker_.as_raw().data());
  const_cast<SharedPark*>(shared)->park.park();
}

void refuse_to_block(const char* call) noexcept {
  ROUSE_ASSERT(
      this_thread.task == nullptr || this_thread.may_block,
      "a blocking call inside a task would stop the executor: co_await the future instead, "
      "or spawn it; a function that has to block goes into spawn_blocking",
      call);
}

}  // namespace rouse
