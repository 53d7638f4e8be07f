// Request and Response, but for what needs a file.
#include <algorithm>
#include <system_error>

#include "rouse/base/assert.hpp"
#include "rouse/http/error.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/response.hpp"

#include "http/head.hpp"

namespace rouse::http {
namespace {

/// Of a form: as elsewhere, and '+' is a space.
std::optional<std::string> form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decoded(spaced);
}

}  // namespace

Request::Request(Method method, std::string_view target) : Request(method, target, Body()) {}

Request::Request(Method method, std::string_view target, Body body)
    : method_(method), target_(target), body_(std::move(body)) {
  const std::string_view path = origin_form(target);
  auto decoded = percent_decoded(path.substr(0, path.find('?')));
  if (!is_target(target) || !decoded) {
    throw std::system_error(make_error_code(Error::bad_target), "http::Request");
  }
  path_ = *std::move(decoded);
}

std::string_view Request::query() const noexcept {
  const std::size_t mark = target_.find('?');
  if (mark == std::string::npos) return {};
  return std::string_view(target_).substr(mark + 1);
}

std::optional<std::string> Request::query_parameter(std::string_view name) const {
  for (std::string_view left = query(); !left.empty();) {
    const std::string_view pair = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(pair.size() + 1, left.size()));
    const std::string_view key = pair.substr(0, pair.find('='));
    if (form_decoded(key) != name) continue;
    return form_decoded(pair.substr(std::min(key.size() + 1, pair.size())));
  }
  return std::nullopt;
}

const std::string& Request::path_parameter(std::string_view name) const noexcept {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  ROUSE_ASSERT(found != parameters_.end(),
               "Request::path_parameter of a name that is not in the route: write it as {name}");
  return found->value;
}

Response::Response(Status status, std::string_view content_type, Body body)
    : status_(status), body_(std::move(body)) {
  headers_.add("Content-Type", content_type);
}

Response Response::text(std::string body) {
  return Response(Status::ok, "text/plain; charset=utf-8", std::move(body));
}

Response Response::html(std::string body) {
  return Response(Status::ok, "text/html; charset=utf-8", std::move(body));
}

Response Response::json(std::string text) {
  return Response(Status::ok, "application/json", std::move(text));
}

Response Response::redirect(std::string_view location, Status status) {
  return Response(status).header("Location", location);
}

}  // namespace rouse::http
