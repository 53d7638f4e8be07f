#include "http/answer.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "rouse/http/error.hpp"
#include "rouse/io/error.hpp"
#include "rouse/runtime/deadline.hpp"

#include "http/date.hpp"
#include "http/file_source.hpp"
#include "http/text.hpp"

namespace rouse::http {
namespace {

/// Without what says that it is only equivalent.
std::string_view opaque_tag(std::string_view tag) noexcept {
  return tag.starts_with("W/") ? tag.substr(2) : tag;
}

bool is_in_list(std::string_view list, std::string_view tag) noexcept {
  while (!list.empty()) {
    const std::string_view member = take_member(list);
    if (member == "*" || opaque_tag(member) == opaque_tag(tag)) return true;
  }
  return false;
}

/// The peer has it already.
bool is_known(const Request& request, const Response& response) {
  if (const auto wanted = request.header("If-None-Match")) {
    const auto tag = response.header("ETag");
    return tag && is_in_list(*wanted, *tag);
  }
  const auto since = request.header("If-Modified-Since");
  const auto modified = response.header("Last-Modified");
  if (!since || !modified) return false;
  const auto known = parse_date(*since);
  const auto changed = parse_date(*modified);
  return known && changed && *changed <= *known;
}

/// Range is only about the copy that the peer has a part of.
bool is_of_same_copy(const Request& request, const Response& response) {
  const auto wanted = request.header("If-Range");
  if (!wanted) return true;
  if (wanted->starts_with('"')) return response.header("ETag") == wanted;
  return response.header("Last-Modified") == wanted;
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Range {
  std::uint64_t first = 0;
  std::uint64_t size = 0;  // 0: there is no such part
};

/// "bytes=0-99", "bytes=100-" or "bytes=-50" of so many bytes. Nothing: no such range, or several,
/// which may be answered with all of it.
std::optional<Range> parse_range(std::string_view text, std::uint64_t length) noexcept {
  if (!are_same_name(text.substr(0, 6), "bytes=")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.find(',') != std::string_view::npos) {
    return std::nullopt;
  }
  const auto last = number(text.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    const std::uint64_t size = std::min(*last, length);
    return Range{length - size, size};
  }
  const auto first = number(text.substr(0, dash));
  if (!first || (!last && dash + 1 != text.size()) || (last && *last < *first)) {
    return std::nullopt;
  }
  if (*first >= length) return Range{length, 0};
  return Range{*first, last ? std::min(*last, length - 1) - *first + 1 : length - *first};
}

void apply_range(const Request& request, Response& response, FileSource& file) {
  const std::uint64_t length = file.length().value_or(0);
  const auto wanted = request.header("Range");
  if (!wanted || request.method() != Method::get || !is_of_same_copy(request, response)) return;
  const std::optional<Range> range = parse_range(*wanted, length);
  if (!range) return;
  const std::string of = '/' + std::to_string(length);
  if (range->size == 0) {
    response.status(Status::range_not_satisfiable).body(Body());
    response.header("Content-Range", "bytes *" + of);
    return;
  }
  response.status(Status::partial_content);
  response.header("Content-Range", "bytes " + std::to_string(range->first) + '-' +
                                       std::to_string(range->first + range->size - 1) + of);
  file.narrow(range->first, range->size);
}

bool is_code(const std::error_code& error, Status& status) {
  if (error == io::Error::too_long) {
    status = Status::content_too_large;
  } else if (error == make_error_code(DeadlineError::passed)) {
    status = Status::service_unavailable;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Response plain_answer(Status status, std::string_view text) {
  if (!may_have_body(status)) return Response(status);
  std::string body(text.empty() ? reason_of(status) : text);
  body += '\n';
  return Response::text(std::move(body)).status(status);
}

Response answer_to(const std::exception_ptr& thrown, std::error_code body_error, bool& is_news) {
  is_news = false;
  if (body_error == make_error_code(Error::too_slow)) return plain_answer(Status::request_timeout);
  if (body_error) return plain_answer(Status::bad_request);
  Status status = Status::internal_server_error;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::system_error& error) {
    is_news = !is_code(error.code(), status);
  } catch (...) {
    is_news = true;
  }
  return plain_answer(status);
}

void apply_conditions(const Request& request, Response& response) {
  const bool reads = request.method() == Method::get || request.method() == Method::head;
  if (!reads || response.status() != Status::ok) return;
  if (is_known(request, response)) {
    response.status(Status::not_modified).body(Body());
    response.headers().remove("Content-Type");
    return;
  }
  internal::BodySource* const source = response.body().source();
  FileSource* const file = source ? source->as_file() : nullptr;
  if (!file) return;
  response.header("Accept-Ranges", "bytes");
  apply_range(request, response, *file);
}

AnswerFraming framing_of(const Request& request, Response& response, bool& keeps_alive) {
  AnswerFraming framing;
  const bool has_body = may_have_body(response.status());
  const std::optional<std::uint64_t> length = response.body().length();
  if (has_body) framing.head.content_length = length;
  framing.has_bytes = has_body && request.method() != Method::head;
  if (framing.has_bytes && !length) {
    framing.head.is_chunked = request.minor_version() == 1;
    framing.ends_stream = !framing.head.is_chunked;
  }
  if (framing.ends_stream || response.headers().has_token("Connection", "close")) {
    keeps_alive = false;
  }
  if (response.upgrade()) {
    framing.head.connection = "Upgrade";
  } else if (!keeps_alive) {
    framing.head.connection = "close";
  } else if (request.minor_version() == 0) {
    framing.head.connection = "keep-alive";
  }
  framing.head.date = date_now();
  return framing;
}

}  // namespace rouse::http
