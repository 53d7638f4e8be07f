// An Async owns a running coroutine: it is moved, never copied.
// EXPECT-ERROR: (deleted|implicitly-deleted)
#include <utility>

#include "rouse/core/async.hpp"

rouse::Async<> work() { co_return; }

rouse::Async<> run_later() {
  auto first = work();
#ifndef FIXED
  auto second = first;
#else
  auto second = std::move(first);
#endif
  co_await second;
}
