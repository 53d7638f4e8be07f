// Its value would be taken for the timeout's own error.
// EXPECT-ERROR: Result<T> takes an error code for its error, never for its value
#include <chrono>
#include <system_error>

#include "rouse/core/async.hpp"
#include "rouse/time/timeout.hpp"

#ifdef FIXED
using Answer = rouse::Result<void>;
#else
using Answer = std::error_code;
#endif

rouse::Async<Answer> ask() { co_return Answer(); }

rouse::Async<void> wait_for_answer() {
  (void)co_await rouse::timeout(std::chrono::seconds(1), ask()).result();
}
