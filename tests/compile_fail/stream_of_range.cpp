// A range where a stream is wanted.
// EXPECT-ERROR: a range without stream::iter
#include <vector>

#include "rouse/stream/collect.hpp"
#include "rouse/stream/iter.hpp"

void use(std::vector<int> numbers) {
#ifdef FIXED
  auto all = rouse::stream::collect(rouse::stream::iter(numbers));
#else
  auto all = rouse::stream::collect(numbers);
#endif
  static_cast<void>(all);
}
