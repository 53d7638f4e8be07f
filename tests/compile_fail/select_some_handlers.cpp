// A branch with a handler beside one without.
// EXPECT-ERROR: give a handler to each branch, or to none
#include "rouse/core/async.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"

rouse::Async<void> wait() {
#ifdef FIXED
  co_await rouse::select(rouse::on(rouse::ready(1), [](int) {}),
                         rouse::on(rouse::ready(2), [](int) {}));
#else
  co_await rouse::select(rouse::on(rouse::ready(1), [](int) {}), rouse::ready(2));
#endif
}
