// The head of an HTTP request, however it arrives: what is told does not depend on how it was cut,
// nor on what comes after it; what was understood is what was sent; and to be let in by TCP, what
// must be there was there.
#include "sight/http_request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "input.hpp"
#include "sight/gate.hpp"

namespace rouse::fuzz {
namespace {

using sight::HttpHead;
using sight::HttpStatus;

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}
bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  });
}
bool are_same(const HttpHead& a, const HttpHead& b) {
  return a.status == b.status && a.request.is_head == b.request.is_head &&
         a.request.path == b.request.path && a.request.query == b.request.query &&
         a.request.host == b.request.host && a.request.origin == b.request.origin &&
         a.request.authorization == b.request.authorization;
}

void check_parts(const HttpHead& head, std::string_view bytes) {
  const sight::HttpRequest& request = head.request;
  require(bytes.starts_with(request.is_head ? "HEAD /" : "GET /"), "no other method is let in");
  require(request.path.starts_with('/'), "a path is absolute");
  require(request.path.find_first_of("?# \t") == std::string_view::npos, "a path ends before that");
  for (const std::string_view part :
       {request.path, request.query, request.host, request.origin.value_or(""),
        request.authorization.value_or("")}) {
    require(is_inside(part, bytes), "all parts are of what came");
    require(!has_control(part), "no part has control bytes");
  }
}

/// A request is let in only with a loopback name, no other origin, and the token.
void check_gate(const HttpHead& head, std::string_view bytes) {
  static const sight::Token token = *sight::Token::make();
  if (sight::judge(head.request, token) != HttpStatus::ok) return;
  require(head.request.path == "/", "nobody guesses a token");
  require(bytes.find("localhost") != std::string_view::npos ||
              bytes.find("127.0.0.1") != std::string_view::npos ||
              bytes.find("[::1]") != std::string_view::npos,
          "a loopback name was there");
  if (head.request.origin) {
    require(*head.request.origin == "http://" + std::string(head.request.host), "the same origin");
  }
}

void run(Input input) {
  const std::string bytes = input.rest();
  std::optional<HttpHead> first;
  std::size_t size = 0;
  while (!first && size < bytes.size()) {
    first = sight::parse_http_head(std::string_view(bytes).substr(0, ++size));
  }
  const std::optional<HttpHead> whole = sight::parse_http_head(bytes);
  require(first.has_value() == whole.has_value(), "what is complete stays complete");
  if (!whole) return;
  require(are_same(*first, *whole), "what comes later changes nothing");
  if (whole->status != HttpStatus::ok) return;
  check_parts(*whole, bytes);
  check_gate(*whole, bytes);
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
