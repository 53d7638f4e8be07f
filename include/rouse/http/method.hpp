// http::Method: what a request asks for.
#pragma once

#include <cstdint>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::http {

/// `delete` is a word of C++, so it is `delete_` here.
enum class Method : std::uint8_t {
  get,
  head,
  post,
  put,
  delete_,
  connect,
  options,
  trace,
  patch,
};

/// As it stands in a request: "GET".
[[nodiscard]] ROUSE_API std::string_view name_of(Method method) noexcept;

/// Asks for something and changes nothing: GET, HEAD, OPTIONS, TRACE.
[[nodiscard]] constexpr bool is_safe(Method method) noexcept {
  return method == Method::get || method == Method::head || method == Method::options ||
         method == Method::trace;
}
/// May be sent twice with the effect of once: the safe ones, PUT and DELETE.
[[nodiscard]] constexpr bool is_idempotent(Method method) noexcept {
  return is_safe(method) || method == Method::put || method == Method::delete_;
}

}  // namespace rouse::http
