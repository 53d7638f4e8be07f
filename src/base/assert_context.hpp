// What a failed assertion says of the program besides its message: a layer that knows sets it.
#pragma once

#include <string>

#include "rouse/base/atomic.hpp"

namespace rouse::internal {

/// Appends lines that each begin with a line break. Null: there is nothing to tell.
using AppendContext = void (*)(std::string& text);
extern AppendContext append_assert_context;

/// Called once after the message is out, on the thread that is about to abort. Null: nothing is.
using BeforeAbort = void (*)() noexcept;
extern atomic<BeforeAbort> before_abort;

}  // namespace rouse::internal
