// EXPECT-ERROR: deleted
#include "rouse/core/context.hpp"

void poll_by_hand() {
#ifndef FIXED
  rouse::Context cx{rouse::Waker(rouse::Waker::noop())};
#else
  const rouse::Waker waker(rouse::Waker::noop());
  rouse::Context cx(waker);
#endif
  cx.waker().wake_by_ref();
}
