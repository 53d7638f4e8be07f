// A task whose result is not what the JoinSet gives.
// EXPECT-ERROR: JoinSet<T>: all its tasks give a T
#include "rouse/runtime/join_set.hpp"

rouse::Async<int> number() { co_return 1; }
rouse::Async<long> long_number() { co_return 1; }

void use(rouse::JoinSet<long>& set) {
#ifdef FIXED
  set.spawn(long_number);
#else
  set.spawn(number);
#endif
}
