// A future that the caller keeps, without by_ref.
// EXPECT-ERROR: select\(by_ref\(f\), std::move\(g\)\)
#include "rouse/core/async.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/future/select.hpp"

rouse::Async<void> wait(rouse::Async<int> kept) {
#ifdef FIXED
  co_await rouse::select(rouse::by_ref(kept));
#else
  co_await rouse::select(kept);
#endif
}
