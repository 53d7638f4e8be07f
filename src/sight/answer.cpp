#include "sight/answer.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sight/answers.hpp"
#include "sight/formats.hpp"
#include "sight/page.hpp"
#include "sight/snapshot.hpp"
#include "sys/memory.hpp"

namespace rouse::sight {
namespace {

constexpr std::size_t page_size = 65536;
constexpr std::string_view plain = "text/plain; charset=utf-8";
constexpr std::string_view json = "application/json";
constexpr std::string_view html = "text/html; charset=utf-8";

std::string_view reason_of(HttpStatus status) noexcept {
  switch (status) {
    case HttpStatus::ok:
      return "OK";
    case HttpStatus::bad_request:
      return "Bad Request";
    case HttpStatus::unauthorized:
      return "Unauthorized";
    case HttpStatus::forbidden:
      return "Forbidden";
    case HttpStatus::not_found:
      return "Not Found";
    case HttpStatus::method_not_allowed:
      return "Method Not Allowed";
    case HttpStatus::body_not_allowed:
      return "Content Too Large";
    case HttpStatus::head_too_large:
      return "Request Header Fields Too Large";
    case HttpStatus::no_room:
      return "Service Unavailable";
    case HttpStatus::version_not_supported:
      return "HTTP Version Not Supported";
  }
  return "";
}

/// For who asks by hand.
std::string_view advice_of(HttpStatus status) noexcept {
  switch (status) {
    case HttpStatus::unauthorized:
      return "the token is missing or wrong: it stands behind the # of the page's URL; send it as "
             "'Authorization: Bearer TOKEN'\n";
    case HttpStatus::forbidden:
      return "only the page of this server may ask, as localhost or 127.0.0.1\n";
    case HttpStatus::not_found:
      return "there are: / /dump?format=text|json|folded /metrics /sites /slow /trace\n";
    case HttpStatus::method_not_allowed:
      return "only GET and HEAD\n";
    case HttpStatus::no_room:
      return "there is no memory for this answer, or it is larger than 64 MiB\n";
    default:
      return "not understood\n";
  }
}

template <Format format>
void write_dump(Out& out) {
  const Snapshot snapshot(patience_of(DumpOptions()));
  write(out, snapshot, format);
}

}  // namespace

void Answer::make(const HttpHead& head, BodyRoom& room) noexcept {
  const HttpRequest& request = head.request;
  if (head.status != HttpStatus::ok) {
    refuse(head.status);
  } else if (request.path == "/") {
    set(HttpStatus::ok, html, page());
  } else if (request.path == "/dump") {
    dump(request.query, room);
  } else if (request.path == "/metrics") {
    fill("text/plain; version=0.0.4; charset=utf-8", write_metrics, room);
  } else if (request.path == "/sites") {
    fill(json, write_sites, room);
  } else if (request.path == "/slow") {
    fill(json, write_slow_polls, room);
  } else if (request.path == "/trace") {
    fill(json, write_trace, room);
  } else {
    refuse(HttpStatus::not_found);
  }
  if (request.is_head) body_ = {};
}

void Answer::dump(std::string_view query, BodyRoom& room) noexcept {
  if (query.empty() || query == "format=text") return fill(plain, write_dump<Format::text>, room);
  if (query == "format=json") return fill(json, write_dump<Format::json>, room);
  if (query == "format=folded") return fill(plain, write_dump<Format::folded>, room);
  refuse(HttpStatus::not_found);
}

/// Takes all the room there is, and gives back what `write` did not need. Pages that were not
/// written to cost nothing.
void Answer::fill(std::string_view type, Write write, BodyRoom& room) noexcept {
  if (room.left == 0) return refuse(HttpStatus::no_room);
  memory_ = static_cast<char*>(sys::map_pages(room.left, page_size));
  if (memory_ == nullptr) return refuse(HttpStatus::no_room);
  room_ = &room;
  size_ = std::exchange(room.left, 0);
  Out out(memory_, size_);
  write(out);
  if (out.is_cut()) {
    release();
    return refuse(HttpStatus::no_room);
  }
  const std::size_t used = (out.text().size() + page_size - 1) & ~(page_size - 1);
  const std::size_t kept = std::max(used, page_size);
  const std::size_t rest = size_ - kept;
  if (rest != 0 && sys::unmap_pages(memory_ + kept, rest)) {
    size_ = kept;
    room.left = rest;
  }
  set(HttpStatus::ok, type, out.text());
}

void Answer::refuse(HttpStatus status) noexcept { set(status, plain, advice_of(status)); }

std::string_view Answer::policy() const noexcept {
  return type_ == html ? page_policy() : "default-src 'none'; frame-ancestors 'none'";
}

void Answer::set(HttpStatus status, std::string_view type, std::string_view body) noexcept {
  status_ = status;
  type_ = type;
  body_ = body;
  Out out(head_, sizeof head_);
  out.put("HTTP/1.1 ").put(std::uint64_t{static_cast<std::uint16_t>(status)}).put(' ');
  out.put(reason_of(status)).put("\r\nContent-Type: ").put(type);
  out.put("\r\nContent-Length: ").put(std::uint64_t{body.size()});
  out.put(
      "\r\nConnection: close"
      "\r\nCache-Control: no-store"
      "\r\nX-Content-Type-Options: nosniff"
      "\r\nReferrer-Policy: no-referrer"
      "\r\nCross-Origin-Resource-Policy: same-origin"
      "\r\nContent-Security-Policy: ");
  out.put(policy());
  if (status == HttpStatus::unauthorized) out.put("\r\nWWW-Authenticate: Bearer");
  if (status == HttpStatus::method_not_allowed) out.put("\r\nAllow: GET, HEAD");
  out.put("\r\n\r\n");
  head_size_ = out.text().size();
}

void Answer::release() noexcept {
  body_ = {};
  if (memory_ == nullptr) return;
  // What the system does not take back stays counted.
  if (sys::unmap_pages(memory_, size_)) room_->left += size_;
  memory_ = nullptr;
}

}  // namespace rouse::sight
