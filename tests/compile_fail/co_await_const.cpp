// co_await of a const future: polling changes it.
// EXPECT-ERROR: co_await of a const future.*take the const away
#include "rouse/core/async.hpp"

rouse::Async<void> child() { co_return; }

rouse::Async<void> parent() {
#ifdef FIXED
  auto future = child();
#else
  const auto future = child();
#endif
  co_await future;
}
