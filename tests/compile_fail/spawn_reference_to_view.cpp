// A reference to a view would refer to a view that is gone.
// EXPECT-ERROR: take the view by value
#include <string>
#include <string_view>

#include "rouse/exec/local_executor.hpp"

rouse::Async<void> by_value(std::string_view) { co_return; }
rouse::Async<void> by_reference(const std::string_view&) { co_return; }

void use(rouse::LocalExecutor& executor) {
#ifdef FIXED
  executor.spawn(by_value, std::string("x")).detach();
#else
  executor.spawn(by_reference, std::string("x")).detach();
#endif
}
