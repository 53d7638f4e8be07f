// The sys seam, names: the addresses of a host. See src/sys/README.md.
#pragma once

#include <string>
#include <vector>

#include "rouse/base/result.hpp"

#include "sys/address.hpp"

namespace rouse::sys {

/// The addresses of a host as the system prefers them, with port 0, none of them twice. Blocks.
/// Errors: of the category "rouse.net.lookup", or the system's.
Result<std::vector<NativeAddress>> resolve_host(const std::string& host) noexcept;

}  // namespace rouse::sys
