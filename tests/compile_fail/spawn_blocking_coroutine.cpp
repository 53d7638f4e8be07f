// spawn_blocking of a coroutine: its frame would be made on the pool, and nobody would run it.
// EXPECT-ERROR: spawn_blocking runs a plain function; for a coroutine use spawn
#include "rouse/core/async.hpp"
#include "rouse/exec/blocking_pool.hpp"

rouse::Async<int> coroutine() { co_return 1; }
int function() { return 1; }

void use() {
#ifdef FIXED
  rouse::spawn_blocking(function).detach();
#else
  rouse::spawn_blocking(coroutine).detach();
#endif
}
