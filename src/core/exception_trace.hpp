// Where an exception came through: the coroutine that threw it, and those that awaited that one.
//
// Each coroutine that an exception leaves adds its place to the trace of the exception. A thread
// has the trace of the last one; one that is stored, for whoever joins, is also in a table of the
// process. Both know an exception by its address alone, and the next exception often has the
// address of one that was handled. So a trace begins anew whenever the exception that leaves a
// coroutine was thrown, and not rethrown: then nobody can have stored it before.
#pragma once

#include <exception>
#include <source_location>

namespace rouse::internal {

/// In a handler: the exception that is handled leaves the coroutine that is suspended or began at
/// `where`. `goes_on`: it is rethrown at once, on this thread; else it is stored for now.
void trace_exception(const std::exception_ptr& error, const std::source_location& where,
                     bool goes_on) noexcept;
/// In a handler: the exception that is handled is stored, and another thread may take it.
void keep_trace(const std::exception_ptr& error) noexcept;

}  // namespace rouse::internal
