// map_ok with a function that does not take the value.
// EXPECT-ERROR: map_ok.s, fn.: fn can.t be called with a value of s
#include "rouse/base/result.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/stream/map_ok.hpp"
#include "rouse/stream/once.hpp"

auto results() { return rouse::stream::once(rouse::Result<int>(1)); }

void use() {
#ifdef FIXED
  auto made = rouse::stream::map_ok(results(), [](int x) { return x; });
#else
  auto made = rouse::stream::map_ok(results(), [](const char* x) { return x; });
#endif
  static_cast<void>(made);
}
