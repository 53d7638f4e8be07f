// EXPECT-ERROR: an Async does nothing until it is run: write `co_await f\(\)`
#include "rouse/core/async.hpp"

rouse::Async<> work() { co_return; }

rouse::Async<> forget() {
#ifndef FIXED
  work();
#else
  co_await work();
#endif
  co_return;
}
