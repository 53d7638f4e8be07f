// What runs between fork and exec must not throw.
// EXPECT-ERROR: pre_exec needs a noexcept function that gives 0 or an errno
#include "rouse/process/command.hpp"

void use(rouse::process::Command& command) {
#ifdef FIXED
  command.pre_exec([]() noexcept { return 0; });
#else
  command.pre_exec([] { return 0; });
#endif
}
