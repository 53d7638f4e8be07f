// A generator of references: there is no optional reference.
// EXPECT-ERROR: write AsyncStream<T\*>
#include "rouse/core/async_stream.hpp"

#ifdef FIXED
rouse::AsyncStream<int*> items(int& one) { co_yield &one; }
#else
rouse::AsyncStream<int&> items(int& one) { co_yield one; }
#endif
