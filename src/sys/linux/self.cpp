#include "sys/self.hpp"

#include <cstdlib>
#include <sys/random.h>
#include <unistd.h>

#include "rouse/base/assert.hpp"

#include "sys/linux/call.hpp"

namespace rouse::sys {

std::int64_t process_id() noexcept { return ::getpid(); }
std::uint32_t user() noexcept { return ::geteuid(); }
const char* trusted_variable(const char* name) noexcept { return ::secure_getenv(name); }

/// So few are never cut short.
Result<void> fill_randomly(std::span<std::byte> bytes) noexcept {
  ROUSE_ASSERT(bytes.size() <= 256, "the system gives more than 256 random bytes in parts");
  return done([&] { return ::getrandom(bytes.data(), bytes.size(), 0); });
}

}  // namespace rouse::sys
