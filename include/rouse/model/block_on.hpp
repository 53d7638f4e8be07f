// block_on in a model: runs one future on a thread of the model, which blocks while the future is
// pending. If it is never woken, the checker reports a deadlock.
//
// rouse::block_on can be checked as well, but it consists of a mutex, a condition variable and an
// atomic: many steps. Here a park and an unpark are one step each, so models stay small.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/model/internal/hooks.hpp"

namespace rouse::model {

/// Blocks one thread until another unparks it. An earlier unpark is stored, at most one.
class Parker {
 public:
  Parker() noexcept { object_made(stamp_); }
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  ~Parker() { parker_destroyed(this, stamp_); }

  /// Blocks the thread of the model until `unpark`, or not at all if that came first.
  void park(Where where = Where::current()) noexcept { parker_park(this, stamp_, where); }
  /// Ends a `park`, or the next one.
  void unpark(Where where = Where::current()) noexcept { parker_unpark(this, stamp_, where); }

 private:
  Stamp stamp_;
};

/// What the waker of `block_on` refers to. It may outlive the call, as any waker may.
struct ParkedThread : RefCounted<ParkedThread> {
  /// Ends the sleep of the thread.
  void wake() {
    if (current_thread() == owner) woke_itself = true;
    parker.unpark();
  }
  Parker parker;
  const std::uint32_t owner = current_thread();
  bool woke_itself = false;  // the owner's
};

/// The future's result; throws what it throws. In a thread of a model.
template <class F>
auto block_on(F&& future) -> output_or_void_t<F> {
  const RefPtr<ParkedThread> thread = make_ref<ParkedThread>();
  const Waker waker = make_waker(thread);
  for (;;) {
    Context cx(waker);
    auto poll = future.poll(cx);
    if (poll.is_ready()) return std::move(poll).value();
    thread->parker.park();
    // A future that wakes itself because another thread is in the middle of something is a spin
    // loop.
    if (std::exchange(thread->woke_itself, false)) spin(Where::current());
  }
}

}  // namespace rouse::model
