// A trace in a file.
#pragma once

#include "rouse/base/result.hpp"

namespace rouse::sight {

/// As write_trace of a std::string, without one.
Result<void> write_trace_file(const char* path) noexcept;

}  // namespace rouse::sight
