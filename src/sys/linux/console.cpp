#include "sys/console.hpp"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

namespace rouse::sys {

void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void abort_process() noexcept { std::abort(); }

}  // namespace rouse::sys
