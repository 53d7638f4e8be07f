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

std::optional<Refusal> judge_fields(const Headers& headers) {
  for (const Headers::Field field : headers) {
    if (!is_token(field.name)) return bad("a header field has a name that none can have");
    if (!is_value(field.value)) return bad("a header field has a control character in its value");
  }
  return std::nullopt;
}

std::optional<Refusal> judge_length(Head& head) {
  const std::size_t lengths = head.headers.count("Content-Length");
  if (lengths == 0) return std::nullopt;
  if (lengths > 1) return bad("more than one Content-Length");
  const std::string_view text = *head.headers.get("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad("a Content-Length that is no number");
  }
  head.content_length = length;
  return std::nullopt;
}

std::optional<Refusal> judge_coding(Head& head) {
  const std::size_t codings = head.headers.count("Transfer-Encoding");
  if (codings == 0) return std::nullopt;
  if (head.content_length) return bad("Transfer-Encoding and Content-Length in one message");
  if (head.minor_version == 0) return bad("Transfer-Encoding in HTTP/1.0");
  if (codings > 1 || !are_same_name(*head.headers.get("Transfer-Encoding"), "chunked")) {
    return Refusal{Status::not_implemented, "a Transfer-Encoding other than chunked"};
  }
  head.is_chunked = true;
  return std::nullopt;
}

/// A name or an address, and perhaps a port: nothing that could be read as a path or a user.
bool is_host(std::string_view host) noexcept {
  return std::ranges::all_of(host, [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("-._~!$&'()*+;=:[]%").find(c) != std::string_view::npos;
  });
}

/// The host that stands in a target like "http://host/path".
std::string_view host_in(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return {};
  target.remove_prefix(scheme + 3);
  return target.substr(0, std::min(target.find_first_of("/?"), target.size()));
}

std::optional<Refusal> judge_host(const Head& head) {
  const std::size_t hosts = head.headers.count("Host");
  if (hosts > 1) return bad("more than one Host");
  if (hosts == 0) {
    if (head.minor_version == 0) return std::nullopt;
    return bad("no Host in HTTP/1.1");
  }
  const std::string_view host = *head.headers.get("Host");
  if (!is_host(host)) return bad("a Host that is none");
  const std::string_view in_target = host_in(head.target);
  if (!in_target.empty() && !are_same_name(in_target, host)) {
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

std::optional<Refusal> judge_message(Head& head) {
  if (auto refusal = judge_fields(head.headers)) return refusal;
  if (auto refusal = judge_length(head)) return refusal;
  return judge_coding(head);
}

}  // namespace

std::optional<Refusal> judge_request(Head& head) {
  if (auto refusal = judge_message(head)) return refusal;
  if (auto refusal = judge_host(head)) return refusal;
  if (auto refusal = judge_target(head)) return refusal;
  const auto expected = head.headers.get("Expect");
  if (!expected || head.minor_version == 0) return std::nullopt;
  if (!are_same_name(*expected, "100-continue")) {
    return Refusal{Status::expectation_failed, "an Expect other than 100-continue"};
  }
  head.expects_continue = head.has_body();
  return std::nullopt;
}

std::optional<Refusal> judge_response(Head& head) { return judge_message(head); }

}  // namespace rouse::http
