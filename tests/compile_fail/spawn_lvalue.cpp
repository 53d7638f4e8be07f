// spawn of a future that has a name and can not be copied.
// EXPECT-ERROR: spawn\(std::move\(future\)\)
#include <utility>

#include "rouse/exec/local_executor.hpp"

rouse::Async<void> fine(int) { co_return; }

void use(rouse::LocalExecutor& executor) {
  auto future = fine(1);
#ifdef FIXED
  executor.spawn(std::move(future)).detach();
#else
  executor.spawn(future).detach();
#endif
}
