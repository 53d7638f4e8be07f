// Response::file and static_files.
#include "rouse/http/static_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <utility>

#include "rouse/fs/file.hpp"
#include "rouse/fs/operations.hpp"

#include "http/answer.hpp"
#include "http/date.hpp"
#include "http/text.hpp"

namespace rouse::http {
namespace {

std::string_view type_of(std::string_view path) noexcept {
  struct Type {
    std::string_view ending;
    std::string_view name;
  };
  static constexpr std::array types{Type{"html", "text/html; charset=utf-8"},
                                    Type{"htm", "text/html; charset=utf-8"},
                                    Type{"css", "text/css; charset=utf-8"},
                                    Type{"js", "text/javascript; charset=utf-8"},
                                    Type{"mjs", "text/javascript; charset=utf-8"},
                                    Type{"json", "application/json"},
                                    Type{"txt", "text/plain; charset=utf-8"},
                                    Type{"md", "text/markdown; charset=utf-8"},
                                    Type{"xml", "application/xml"},
                                    Type{"svg", "image/svg+xml"},
                                    Type{"png", "image/png"},
                                    Type{"jpg", "image/jpeg"},
                                    Type{"jpeg", "image/jpeg"},
                                    Type{"gif", "image/gif"},
                                    Type{"webp", "image/webp"},
                                    Type{"ico", "image/x-icon"},
                                    Type{"pdf", "application/pdf"},
                                    Type{"wasm", "application/wasm"},
                                    Type{"woff2", "font/woff2"},
                                    Type{"mp4", "video/mp4"},
                                    Type{"webm", "video/webm"},
                                    Type{"mp3", "audio/mpeg"},
                                    Type{"gz", "application/gzip"},
                                    Type{"zip", "application/zip"}};
  const std::string_view ending = path.substr(path.find_last_of("./") + 1);
  for (const Type& type : types) {
    if (are_same_name(type.ending, ending)) return type.name;
  }
  return "application/octet-stream";
}

void append_hex(std::string& out, std::uint64_t number) {
  std::array<char, 16> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  out.append(digits.data(), end);
}

std::string tag_of(const fs::Metadata& metadata) {
  std::string tag = "\"";
  append_hex(tag, static_cast<std::uint64_t>(metadata.modified().time_since_epoch().count()));
  tag += '-';
  append_hex(tag, metadata.len());
  return tag += '"';
}

/// Errors that say no more than that there is nothing to be had.
bool is_missing(std::error_code error) noexcept {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::permission_denied || error == std::errc::filename_too_long ||
         error == std::errc::too_many_symbolic_link_levels ||
         error == std::errc::no_such_device_or_address || error == std::errc::is_a_directory ||
         error == std::errc::invalid_argument;
}

AsyncResult<Response> open_file(std::string path, int flags) {
  // A FIFO must not hold up a thread until somebody writes to it.
  auto opened =
      co_await fs::OpenOptions().read().custom_flags(flags | O_NONBLOCK).open(path).result();
  if (!opened && is_missing(opened.error())) co_return plain_answer(Status::not_found);
  if (!opened) co_return opened.error();
  const auto metadata = co_await opened->metadata().result();
  if (!metadata) co_return metadata.error();
  if (!metadata->is_file()) co_return plain_answer(Status::not_found);
  Response response(Status::ok, type_of(path), Body::file(*std::move(opened), 0, metadata->len()));
  const auto modified = std::chrono::floor<std::chrono::seconds>(metadata->modified());
  response.header("Last-Modified", format_date(modified.time_since_epoch().count()));
  response.header("ETag", tag_of(*metadata));
  co_return response;
}

bool is_below(std::string_view path, std::string_view folder) noexcept {
  if (folder.ends_with('/')) folder.remove_suffix(1);  // "/"
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Whether a name in it begins with a dot: .git and .env are seldom there to be served. What is in
/// .well-known is (RFC 8615).
bool is_hidden(std::string_view path) noexcept {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    if (name.starts_with('.') && name != ".well-known") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

Async<Response> answer_from(const std::string& folder, std::string rest) {
  if (is_hidden(rest)) co_return plain_answer(Status::not_found);
  const auto root = co_await fs::canonicalize(folder).result();
  if (!root) co_return plain_answer(Status::not_found);
  // Both without links: so one that leads out is seen.
  auto path = co_await fs::canonicalize(*root + '/' + rest).result();
  if (!path || !is_below(*path, *root)) co_return plain_answer(Status::not_found);
  const auto metadata = co_await fs::metadata(*path).result();
  if (metadata && metadata->is_dir()) {
    path = co_await fs::canonicalize(*path + "/index.html").result();
    if (!path || !is_below(*path, *root)) co_return plain_answer(Status::not_found);
  }
  co_return co_await open_file(*std::move(path), O_NOFOLLOW);
}

}  // namespace

AsyncResult<Response> Response::file(std::string path) { return open_file(std::move(path), 0); }

Handler static_files(std::string folder) {
  return [folder = std::move(folder)](Request& request) {
    return answer_from(folder, request.path_parameter("rest"));
  };
}

}  // namespace rouse::http
