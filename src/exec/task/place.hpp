// A place in the program, for messages: "server.cpp:88 (Async<void> serve(TcpStream))".
#pragma once

#include <source_location>
#include <string>

namespace rouse::internal {

inline void append_place(std::string& text, const std::source_location& place) {
  text.append(place.file_name()).append(":").append(std::to_string(place.line()));
  text.append(" (").append(place.function_name()).append(")");
}

}  // namespace rouse::internal
