#include "rouse/exec/block_on.hpp"

#include <chrono>

#include "rouse/base/block_pool.hpp"

#include "exec/current.hpp"
#include "exec/thread_park.hpp"

namespace rouse {
namespace {

struct SharedPark : RefCounted<SharedPark> {
  void wake() { park.unpark(); }
  static void unpark(void* shared) noexcept { static_cast<SharedPark*>(shared)->wake(); }
  ThreadPark park;
};

SharedPark* park_of(const Waker& waker) noexcept {
  return const_cast<SharedPark*>(static_cast<const SharedPark*>(waker.as_raw().data()));
}

/// A thread inside a runtime, in a blocking call for instance, looks after its own timers while it
/// blocks: whether the runtime's threads are busy is all the same to it.
std::unique_ptr<Driver> driver_for(const Waker& waker) {
  Drivers* drivers = this_thread.scheduler ? this_thread.scheduler->drivers() : nullptr;
  return drivers ? drivers->make(Unparker(SharedPark::unpark, park_of(waker))) : nullptr;
}

}  // namespace

ThreadWaker::ThreadWaker()
    : waker_(make_waker(make_ref<SharedPark>())),
      driver_(driver_for(waker_)),
      surroundings_(driver_.get()) {}
ThreadWaker::~ThreadWaker() {
  if (driver_) driver_->close();
}

void ThreadWaker::wait() {
  tidy_blocks();
  if (!driver_) return park_of(waker_)->park.park(Park::for_ever);
  driver_->poll();
  park_of(waker_)->park.park(driver_->until_next(false));
  driver_->poll();
}

void refuse_to_block(const char* call) noexcept {
  ROUSE_ASSERT(
      this_thread.task == nullptr || this_thread.may_block,
      "a blocking call inside a task would stop the executor: co_await the future instead, "
      "or spawn it; a function that has to block goes into spawn_blocking",
      call);
}

bool is_exiting_inside_task() noexcept { return thread_locals_are_gone() && this_thread.task; }

}  // namespace rouse
