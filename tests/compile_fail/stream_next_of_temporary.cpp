// next of a stream that nobody keeps: the rest of it would be lost.
// EXPECT-ERROR: keep it in a variable
#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/stream/next.hpp"

rouse::AsyncStream<int> numbers() { co_yield 1; }

rouse::Async<void> use() {
#ifdef FIXED
  auto all = numbers();
  co_await rouse::stream::next(all);
#else
  co_await rouse::stream::next(numbers());
#endif
}
