// Nearly a future: the message must say what is missing.
// EXPECT-ERROR: co_await needs a rouse::Future: a type with `using Output = T;`
#include "rouse/core/async.hpp"

class Answer {
 public:
#ifdef FIXED
  using Output = int;
#endif
  Answer() noexcept {}
  rouse::Poll<int> poll(rouse::Context&) { return rouse::Poll<int>::ready(42); }
};

rouse::Async<> ask() { co_await Answer(); }
