#include "rouse/exec/block_on.hpp"

#include <utility>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/durations.hpp"

#include "exec/park/thread_park.hpp"
#include "exec/task/current.hpp"

namespace rouse {

using namespace internal;
namespace {

struct SharedPark : RefCounted<SharedPark> {
  void wake() { park.unpark(); }
  static void unpark(void* shared) noexcept { static_cast<SharedPark*>(shared)->wake(); }
  ThreadPark park;
};

SharedPark* park_of(const Waker& waker) noexcept {
  return const_cast<SharedPark*>(static_cast<const SharedPark*>(waker.as_raw().data()));
}

/// A thread inside a runtime, in a blocking call for instance, drives its own timers while it
/// blocks, even if the runtime's threads are busy.
internal::Box<TimerDriver> driver_for(const Waker& waker) {
  TimerDrivers* drivers = this_thread.scheduler ? this_thread.scheduler->drivers() : nullptr;
  return drivers ? drivers->make(Unparker(SharedPark::unpark, park_of(waker))) : nullptr;
}

}  // namespace

ThreadWaker::ThreadWaker(const Frame* coroutine)
    : waker_(make_waker(make_ref<SharedPark>())),
      driver_(driver_for(waker_)),
      driver_context_(driver_.get()),
      outer_(std::exchange(this_thread.blocked_on, coroutine)) {}
ThreadWaker::~ThreadWaker() {
  this_thread.blocked_on = outer_;
  if (driver_) driver_->close();
}

void ThreadWaker::wait() {
  tidy_blocks();
  if (!driver_) return park_of(waker_)->park.park(Park::for_ever);
  driver_->poll();
  park_of(waker_)->park.park(driver_->until_next(false));
  driver_->poll();
}

void internal::refuse_to_block(const char* call) noexcept {
  ROUSE_ASSERT(
      this_thread.task == nullptr || this_thread.may_block,
      "a blocking call inside a task would stop the executor: co_await the future instead, "
      "or spawn it; a function that has to block goes into spawn_blocking",
      call);
}

bool internal::is_exiting_inside_task() noexcept {
  return thread_locals_are_gone() && this_thread.task;
}

}  // namespace rouse
