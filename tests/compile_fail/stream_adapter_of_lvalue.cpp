// An adapter of a stream that has a name and can not be copied.
// EXPECT-ERROR: write std::move\(s\)
#include <utility>

#include "rouse/core/async_stream.hpp"
#include "rouse/stream/map.hpp"

rouse::AsyncStream<int> numbers() { co_yield 1; }

void use() {
  auto all = numbers();
#ifdef FIXED
  auto more = rouse::stream::map(std::move(all), [](int x) { return x + 1; });
#else
  auto more = rouse::stream::map(all, [](int x) { return x + 1; });
#endif
  static_cast<void>(more);
}
