// A whole conversation with a child: all of its input, all of its output, and its end.
#pragma once

#include <cstddef>
#include <string>

#include "rouse/core/async_result.hpp"
#include "rouse/process/child.hpp"
#include "rouse/process/output.hpp"

namespace rouse::process {

/// See Child::wait_with_output. `limit`: of each stream.
AsyncResult<Output> communicate(Child child, std::string input, std::size_t limit);

}  // namespace rouse::process
