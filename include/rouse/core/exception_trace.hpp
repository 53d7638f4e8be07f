// trace_of: which coroutines an exception came through.
#pragma once

#include <exception>
#include <source_location>
#include <vector>

#include "rouse/base/internal/attributes.hpp"

namespace rouse {

/// The coroutines that the exception left, the one that threw first, each with its last await: of
/// the first that is the last before it threw (its beginning, if there was none), of the others the
/// await that rethrew. Also across tasks that were joined. At most the innermost 16, and nothing
/// for an exception that left no coroutine. Of many exceptions that are stored unhandled at once,
/// only the last 64 are known. For a handler, or one who has just taken the exception.
[[nodiscard]] ROUSE_API std::vector<std::source_location> trace_of(
    const std::exception_ptr& error) noexcept;

}  // namespace rouse
