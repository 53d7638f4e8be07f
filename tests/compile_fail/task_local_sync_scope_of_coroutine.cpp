// sync_scope of a coroutine: the scope would end before the coroutine runs.
// EXPECT-ERROR: sync_scope ends when the function returns.*co_await scope\(value, fn\(\)\)
#include "rouse/core/async.hpp"
#include "rouse/exec/task_local.hpp"

rouse::TaskLocal<int> request_id;
rouse::Async<void> work() { co_return; }

rouse::Async<void> use() {
#ifdef FIXED
  co_await request_id.scope(1, work());
#else
  co_await request_id.sync_scope(1, work);
#endif
}
