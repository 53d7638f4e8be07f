#include "sys/limits.hpp"

#include <sys/resource.h>

namespace rouse::sys {

std::size_t max_descriptors() noexcept {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace rouse::sys
