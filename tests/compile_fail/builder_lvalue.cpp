// task::Builder refuses what spawn refuses, with the same words.
// EXPECT-ERROR: spawn keeps the future, and this one can't be copied: write
// spawn\(std::move\(future\)\)
#include "rouse/exec/task_builder.hpp"

rouse::Async<void> work() { co_return; }

void use() {
  auto future = work();
#ifdef FIXED
  rouse::task::Builder().name("n").spawn(std::move(future)).detach();
#else
  rouse::task::Builder().name("n").spawn(future).detach();
#endif
}
