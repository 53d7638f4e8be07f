// LocalSet::block_on of a function instead of its future.
// EXPECT-ERROR: LocalSet runs a rouse::Future: did you pass a function
#include "rouse/exec/local_set.hpp"

rouse::Async<void> work() { co_return; }

void use(rouse::LocalSet& set, const rouse::LocalExecutor& runtime) {
#ifdef FIXED
  set.block_on(runtime, work());
#else
  set.block_on(runtime, work);
#endif
}
