// spawn takes a future or a function that gives one.
// EXPECT-ERROR: spawn needs a rouse::Future, or a function .*write spawn\(fn, args...\)
#include "rouse/exec/local_executor.hpp"

rouse::Async<void> fine(int) { co_return; }

void use(rouse::LocalExecutor& executor) {
#ifdef FIXED
  executor.spawn(fine, 1).detach();
#else
  executor.spawn([](int x) { return x; }, 1).detach();
#endif
}
