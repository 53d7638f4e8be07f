#include "http/write_head.hpp"

#include <array>
#include <charconv>

#include "http/text.hpp"

namespace rouse::http {
namespace {

void write_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

void write_number(std::string& out, std::uint64_t number, int base) {
  std::array<char, 24> digits;
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
  out.append(digits.data(), end);
}

/// Only Framing says these.
bool is_framing(std::string_view name) noexcept {
  switch (name.size()) {
    case 4:
      return are_same_name(name, "Date");
    case 10:
      return are_same_name(name, "Connection") || are_same_name(name, "Keep-Alive");
    case 14:
      return are_same_name(name, "Content-Length");
    case 17:
      return are_same_name(name, "Transfer-Encoding");
    default:
      return false;
  }
}

void write_fields(std::string& out, const Headers& headers, const Framing& framing) {
  for (const Headers::Field field : headers) {
    if (!is_framing(field.name)) write_field(out, field.name, field.value);
  }
  if (framing.content_length) {
    out += "Content-Length: ";
    write_number(out, *framing.content_length, 10);
    out += "\r\n";
  }
  if (framing.is_chunked) write_field(out, "Transfer-Encoding", "chunked");
  if (!framing.connection.empty()) write_field(out, "Connection", framing.connection);
  if (!framing.date.empty()) write_field(out, "Date", framing.date);
  out += "\r\n";
}

}  // namespace

void write_response_head(std::string& out, int minor_version, Status status, const Headers& headers,
                         const Framing& framing) {
  out.reserve(out.size() + 256);
  out += minor_version == 0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  write_number(out, number_of(status), 10);
  out += ' ';
  out += reason_of(status);
  out += "\r\n";
  write_fields(out, headers, framing);
}

void write_request_head(std::string& out, Method method, std::string_view target,
                        std::string_view host, const Headers& headers, const Framing& framing) {
  out += name_of(method);
  out += ' ';
  out += target;
  out += " HTTP/1.1\r\n";
  if (!headers.contains("Host")) write_field(out, "Host", host);
  write_fields(out, headers, framing);
}

void write_chunk_size(std::string& out, std::uint64_t size) {
  write_number(out, size, 16);
  out += "\r\n";
}

}  // namespace rouse::http
