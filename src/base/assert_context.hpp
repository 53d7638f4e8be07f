// What a failed assertion says of the program besides its message: a layer that knows sets it.
#pragma once

#include <string>

namespace rouse::internal {

/// Appends lines that each begin with a line break. Null: there is nothing to tell.
using AppendContext = void (*)(std::string& text);
extern AppendContext append_assert_context;

}  // namespace rouse::internal
