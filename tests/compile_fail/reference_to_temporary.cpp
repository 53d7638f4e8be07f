// A coroutine that returns a reference must not return one to a temporary.
// EXPECT-ERROR: (no matching|no viable).*return_value
#include "rouse/core/async.hpp"

rouse::Async<const int&> dangles(const int& outlives) {
#ifdef FIXED
  co_return outlives;
#else
  (void)outlives;
  co_return 5;
#endif
}
