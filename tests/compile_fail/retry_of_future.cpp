// A future can be awaited once: each attempt needs a new one.
// EXPECT-ERROR: a function that makes a new future for each attempt
#include <rouse/all.hpp>

rouse::Async<int> fetch();

void use() {
#ifndef FIXED
  (void)rouse::retry(fetch());
#else
  (void)rouse::retry([] { return fetch(); });
#endif
}
