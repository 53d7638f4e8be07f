// What the inspector would say: for servers that show its pages among their own (rouse::http).
#pragma once

#include <string>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::sight {

struct Reply {
  unsigned status = 0;
  std::string_view content_type;
  std::string_view policy;  // its Content-Security-Policy
  std::string body;
};

/// To GET `path`, as "/dump", with what is behind the '?'. May take as long as a dump does.
[[nodiscard]] ROUSE_API Reply reply_to(std::string_view path, std::string_view query);

}  // namespace rouse::sight
