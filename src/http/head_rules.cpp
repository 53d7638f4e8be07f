// The rules for heads that hold whatever llhttp allows. Where two programs in a row read a message
// differently, the second one answers requests that the first has never seen; so what might be read
// in two ways is refused.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "http/head.hpp"
#include "http/text.hpp"

namespace rouse::http {
namespace {

Refusal bad(const char* reason) noexcept { return Refusal{Status::bad_request, reason}; }

/// A field that there may be one of at most.
class Single {
 public:
  void see(std::string_view value) noexcept {
    if (count_++ == 0) value_ = value;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }

 private:
  std::string_view value_;
  std::size_t count_ = 0;
};

/// What the rules are about, found in one pass.
struct Fields {
  Single content_length;
  Single transfer_encoding;
  Single host;
  Single expect;

  void see(const Headers::Field& field) noexcept {
    switch (field.name.size()) {
      case 4:
        if (are_same_name(field.name, "Host")) host.see(field.value);
        break;
      case 6:
        if (are_same_name(field.name, "Expect")) expect.see(field.value);
        break;
      case 14:
        if (are_same_name(field.name, "Content-Length")) content_length.see(field.value);
        break;
      case 17:
        if (are_same_name(field.name, "Transfer-Encoding")) transfer_encoding.see(field.value);
        break;
      default:
        break;
    }
  }
};

std::optional<Refusal> judge_fields(const Headers& headers, Fields& fields) {
  for (const Headers::Field field : headers) {
    if (!is_token(field.name)) return bad("a header field has a name that none can have");
    if (!is_value(field.value)) return bad("a header field has a control character in its value");
    fields.see(field);
  }
  return std::nullopt;
}

std::optional<Refusal> judge_length(Head& head, const Single& field) {
  if (field.count() == 0) return std::nullopt;
  if (field.count() > 1) return bad("more than one Content-Length");
  const std::string_view text = field.value();
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad("a Content-Length that is no number");
  }
  head.content_length = length;
  return std::nullopt;
}

std::optional<Refusal> judge_coding(Head& head, const Single& field) {
  if (field.count() == 0) return std::nullopt;
  if (head.content_length) return bad("Transfer-Encoding and Content-Length in one message");
  if (head.minor_version == 0) return bad("Transfer-Encoding in HTTP/1.0");
  if (field.count() > 1 || !are_same_name(field.value(), "chunked")) {
    return Refusal{Status::not_implemented, "a Transfer-Encoding other than chunked"};
  }
  head.is_chunked = true;
  return std::nullopt;
}

/// The host that stands in a target like "http://host/path".
std::string_view host_in(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  target.remove_prefix(scheme + 3);
  return target.substr(0, std::min(target.find_first_of("/?"), target.size()));
}

std::optional<Refusal> judge_host(const Head& head, const Single& field) {
  if (field.count() > 1) return bad("more than one Host");
  if (field.count() == 0) {
    if (head.minor_version == 0) return std::nullopt;
    return bad("no Host in HTTP/1.1");
  }
  if (!host_chars.has_all(field.value())) return bad("a Host that is none");
  const std::string_view in_target = host_in(head.target);
  if (!in_target.empty() && !are_same_name(in_target, field.value())) {
    return bad("the target names another host than Host");
  }
  return std::nullopt;
}

std::optional<Refusal> judge_target(const Head& head) {
  if (!is_target(head.target)) return bad("a malformed target");
  if (head.target.find('#') != std::string::npos) return bad("a target with a fragment");
  if (head.method == Method::connect) return std::nullopt;  // host:port
  if (head.target == "*") {
    if (head.method == Method::options) return std::nullopt;
    return bad("the target * is for OPTIONS");
  }
  if (!origin_form(head.target).starts_with('/')) return bad("a target without a path");
  return std::nullopt;
}

std::optional<Refusal> judge_message(Head& head, Fields& fields) {
  if (auto refusal = judge_fields(head.headers, fields)) return refusal;
  if (auto refusal = judge_length(head, fields.content_length)) return refusal;
  return judge_coding(head, fields.transfer_encoding);
}

}  // namespace

std::optional<Refusal> judge_request(Head& head) {
  Fields fields;
  if (auto refusal = judge_message(head, fields)) return refusal;
  if (auto refusal = judge_host(head, fields.host)) return refusal;
  if (auto refusal = judge_target(head)) return refusal;
  if (fields.expect.count() == 0 || head.minor_version == 0) return std::nullopt;
  if (!are_same_name(fields.expect.value(), "100-continue")) {
    return Refusal{Status::expectation_failed, "an Expect other than 100-continue"};
  }
  head.expects_continue = head.has_body();
  return std::nullopt;
}

std::optional<Refusal> judge_response(Head& head) {
  Fields fields;
  return judge_message(head, fields);
}

}  // namespace rouse::http
