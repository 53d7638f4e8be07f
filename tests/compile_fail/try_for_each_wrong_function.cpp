// try_for_each with a function whose result is dropped.
// EXPECT-ERROR: fn returns nothing, a Result<void>, or a future
#include "rouse/base/result.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/stream/once.hpp"
#include "rouse/stream/try_for_each.hpp"

auto results() { return rouse::stream::once(rouse::Result<int>(1)); }

void use() {
#ifdef FIXED
  auto made = rouse::stream::try_for_each(results(), [](int) {});
#else
  auto made = rouse::stream::try_for_each(results(), [](int x) { return x; });
#endif
  static_cast<void>(made);
}
