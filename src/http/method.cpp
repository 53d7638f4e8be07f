#include "rouse/http/method.hpp"

#include <array>
#include <cstddef>

namespace rouse::http {

std::string_view name_of(Method method) noexcept {
  static constexpr std::array<std::string_view, 9> names{
      "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};
  return names.at(static_cast<std::size_t>(method));
}

}  // namespace rouse::http
