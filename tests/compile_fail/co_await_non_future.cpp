// EXPECT-ERROR: co_await needs a rouse::Future: a type with `using Output = T;`
#include "rouse/core/async.hpp"

int number() { return 1; }
rouse::Async<int> future_number() { co_return 1; }

rouse::Async<int> twice() {
#ifndef FIXED
  co_return 2 * co_await number();
#else
  co_return 2 * co_await future_number();
#endif
}
