// Runs a test on the executors whose clock can be paused.
#pragma once

#include "rouse/runtime/runtime.hpp"
#include "rouse/time/pause.hpp"

namespace rouse::test {

inline Runtime paused_runtime(bool local) {
  auto builder = Runtime::builder();
  if (local) return builder.current_thread().start_paused().build();
  return builder.worker_threads(1).start_paused().build();
}

/// Runs `program()`, a coroutine, on each of them.
template <class Program>
void run_paused(Program program) {
  for (const bool local : {true, false}) {
    Runtime runtime = paused_runtime(local);
    runtime.block_on(program());
  }
}

}  // namespace rouse::test
