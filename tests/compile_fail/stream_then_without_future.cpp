// then with a function that returns no future.
// EXPECT-ERROR: fn returns no future: write map
#include "rouse/future/ready.hpp"
#include "rouse/stream/once.hpp"
#include "rouse/stream/then.hpp"

void use() {
#ifdef FIXED
  auto items = rouse::stream::then(rouse::stream::once(1), [](int x) { return rouse::ready(x); });
#else
  auto items = rouse::stream::then(rouse::stream::once(1), [](int x) { return x; });
#endif
  static_cast<void>(items);
}
