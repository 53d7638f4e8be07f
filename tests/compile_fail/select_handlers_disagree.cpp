// Handlers that give different types.
// EXPECT-ERROR: all handlers must give the same type, or all nothing
#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"

rouse::Async<void> wait() {
#ifdef FIXED
  co_await rouse::select(rouse::on(rouse::ready(1), [](int) { return 1; }),
                         rouse::on(rouse::ready(2), [](int) { return 2; }));
#else
  co_await rouse::select(rouse::on(rouse::ready(1), [](int) { return 1; }),
                         rouse::on(rouse::ready(2), [](int) { return 2L; }));
#endif
}
