// block_on of a function that was not called.
// EXPECT-ERROR: write block_on\(f\(\)\)
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"

rouse::Async<void> fine(int) { co_return; }

void use(rouse::LocalExecutor& executor) {
  (void)executor;
#ifdef FIXED
  rouse::block_on(fine(1));
#else
  rouse::block_on(fine);
#endif
}
