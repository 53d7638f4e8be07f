// The parser of rouse::http: what it says of bytes does not depend on how they were cut, it uses no
// more than came, gives no more than it used, and what it lets pass can be sent on: no name, value
// or target has in it what would end a line, and nothing says twice how long a body is.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rouse/http/method.hpp"
#include "rouse/http/status.hpp"

#include "http/parser.hpp"
#include "http/write_head.hpp"
#include "input.hpp"

namespace rouse::fuzz {
namespace {

using http::Parser;
using Stage = Parser::Stage;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text));
}
bool ends_a_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

/// A parser, and all that it said.
class Reading {
 public:
  Reading(Parser::Kind kind, const http::ParserLimits& limits)
      : parser_(kind, limits), kind_(kind), limits_(limits) {}

  /// `room`: for the body, at a time.
  void feed(std::string_view piece, std::size_t room) {
    while (!piece.empty() && parser_.stage() != Stage::failed) {
      const std::size_t used =
          parser_.stage() == Stage::head ? read_head(piece) : read_body(piece, room);
      require(used <= piece.size(), "no more is used than came");
      piece.remove_prefix(used);
      if (parser_.stage() == Stage::complete) {
        said += "}";
        parser_.next();
      }
    }
  }
  void end() {
    parser_.end_of_input();
    if (parser_.stage() == Stage::complete) said += "}";
    if (parser_.stage() == Stage::failed) {
      require(is_error(parser_.refusal().status), "who is refused is told so");
      said += "refused";  // of two reasons, either may be seen first
    }
  }

  std::string said;

 private:
  std::size_t read_head(std::string_view piece) {
    const std::size_t used = parser_.parse_head(bytes_of(piece));
    if (parser_.stage() == Stage::head) require(used == piece.size(), "all of a piece is used");
    if (parser_.stage() == Stage::body || parser_.stage() == Stage::complete) tell_head();
    return used;
  }
  std::size_t read_body(std::string_view piece, std::size_t room) {
    std::array<std::byte, 64> out;
    const Parser::Taken taken = parser_.parse_body(
        bytes_of(piece), std::span(out).first(std::clamp<std::size_t>(room, 1, 64)));
    require(taken.used != 0 || parser_.stage() == Stage::failed, "it goes on");
    require(taken.given <= taken.used, "no more is given than came");
    said.append(reinterpret_cast<const char*>(out.data()), taken.given);
    return taken.used;
  }
  void tell_head() {
    const http::Head& head = parser_.head();
    require(head.headers.size() <= limits_.fields, "no more fields than allowed");
    require(head.target.size() <= limits_.target, "no longer target than allowed");
    require(!(head.is_chunked && head.content_length), "one framing only");
    require(head.headers.count("Content-Length") <= 1, "one length only");
    require(!ends_a_line(head.target), "a target is one line");
    for (const auto& [name, value] : head.headers) {
      require(!name.empty() && !ends_a_line(name) && !ends_a_line(value), "a field is one line");
    }
    if (kind_ == Parser::Kind::requests) {
      require(head.headers.count("Host") <= 1, "one host only");
      require(!head.target.empty(), "there is a target");
      require(http::is_target(head.target), "it can stand in a request line");
    }
    std::string text;
    write_response_head(text, 1, head.status, head.headers, http::Framing());
    said += std::string(name_of(head.method)) + head.target + text + "{";
  }

  Parser parser_;
  Parser::Kind kind_;
  http::ParserLimits limits_;
};

void run(Input input) {
  const Parser::Kind kind = input.flag() ? Parser::Kind::responses : Parser::Kind::requests;
  http::ParserLimits limits;
  if (input.flag()) {
    limits.target = 16;
    limits.head = 128;
    limits.fields = 4;
    limits.chunk_extensions = 32;
  }
  const std::size_t step = 1 + input.below(64);
  const std::size_t room = 1 + input.below(64);
  const std::string bytes = input.rest();
  Reading whole(kind, limits);
  whole.feed(bytes, 64);
  whole.end();
  Reading cut(kind, limits);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    cut.feed(std::string_view(bytes).substr(at, step), room);
  }
  cut.end();
  require(whole.said == cut.said, "how it was cut makes no difference");
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
