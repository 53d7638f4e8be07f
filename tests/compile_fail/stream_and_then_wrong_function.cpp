// and_then with a function that does not take the value.
// EXPECT-ERROR: and_then.s, fn.: fn can.t be called with a value of s
#include "rouse/base/result.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/stream/and_then.hpp"
#include "rouse/stream/once.hpp"

auto results() { return rouse::stream::once(rouse::Result<int>(1)); }

void use() {
#ifdef FIXED
  auto made = rouse::stream::and_then(results(), [](int x) { return rouse::ready(x); });
#else
  auto made = rouse::stream::and_then(results(), [](const char*) { return rouse::ready(1); });
#endif
  static_cast<void>(made);
}
