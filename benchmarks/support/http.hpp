// The least of HTTP that a load generator is content with: every request gets the same answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view http_answer =
    "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!";
inline constexpr std::string_view http_end = "\r\n\r\n";

/// How many whole requests there are, and how many bytes they have.
struct Requests {
  std::size_t count = 0;
  std::size_t size = 0;
};
inline Requests find_requests(std::string_view text) {
  Requests found;
  for (;;) {
    const std::size_t at = text.find(http_end, found.size);
    if (at == std::string_view::npos) return found;
    found.size = at + http_end.size();
    ++found.count;
  }
}

/// So many answers at most are written at once: more requests than a buffer of 4096 bytes has.
inline constexpr std::size_t max_answers = 1024;
inline const std::string& http_answers() {
  static const std::string all = [] {
    std::string text;
    for (std::size_t i = 0; i < max_answers; ++i) text += http_answer;
    return text;
  }();
  return all;
}

}  // namespace bench
