// timeout of a function that was not called.
// EXPECT-ERROR: write timeout\(1s, f\(\)\)
#include <chrono>

#include "rouse/core/async.hpp"
#include "rouse/time/timeout.hpp"

rouse::Async<int> answer() { co_return 42; }

void use() {
#ifdef FIXED
  (void)rouse::timeout(std::chrono::seconds(1), answer());
#else
  rouse::timeout(std::chrono::seconds(1), answer);
#endif
}
