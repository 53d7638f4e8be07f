// A coroutine that is called, kept in a variable and never awaited.
// EXPECT-ERROR: unused variable .never
// FLAGS: -Wall -Werror
#include "rouse/core/async.hpp"

rouse::Async<> work() { co_return; }

rouse::Async<> forget() {
  auto never = work();
#ifdef FIXED
  co_await std::move(never);
#endif
  co_return;
}
