// append_what: what an exception says of itself, for a line on stderr.
#pragma once

#include <exception>
#include <string>

namespace rouse::internal {

/// May throw std::bad_alloc.
inline void append_what(std::string& line, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    line += e.what();
  } catch (...) {
    line += "not a std::exception";
  }
}

}  // namespace rouse::internal
