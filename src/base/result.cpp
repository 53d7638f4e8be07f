#include "rouse/base/result.hpp"

namespace rouse::internal {

void throw_error_of(const ResultBase& failed) { throw std::system_error(failed.error()); }

}  // namespace rouse::internal
