// spawn of something that is neither a future nor a function.
// EXPECT-ERROR: spawn needs a rouse::Future, or a function .*write spawn\(fn, args...\)
#include "rouse/exec/local_executor.hpp"

rouse::Async<void> fine(int) { co_return; }

void use(rouse::LocalExecutor& executor) {
#ifdef FIXED
  executor.spawn(fine, 1).detach();
#else
  executor.spawn(42).detach();
#endif
}
