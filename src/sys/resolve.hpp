// The sys seam, names: the addresses of a host. See src/sys/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/result.hpp"

#include "sys/address.hpp"

namespace rouse::sys {

/// The addresses of a host as the system prefers them, with port 0, none of them twice. Blocks.
/// Errors: of the category "rouse.net.lookup", or the system's.
Result<std::vector<NativeAddress>> resolve_host(const std::string& host) noexcept;

/// The number of a network interface ("eth0"); 0: there is none of this name.
std::uint32_t interface_number(std::string_view name) noexcept;

}  // namespace rouse::sys
