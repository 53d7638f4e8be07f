// RESP, the protocol of Redis: a parser of commands and the five kinds of replies. No I/O here, so
// that it is easy to test.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mini {

using Args = std::span<const std::string_view>;

// [limits]
/// What a client may make us keep. Nobody gets more memory by announcing more.
struct ParserLimits {
  std::size_t args = 1024 * 1024;          ///< words of a command
  std::size_t bulk = 64 * 1024 * 1024;     ///< bytes of one word
  std::size_t command = 80 * 1024 * 1024;  ///< bytes of a whole command
  std::size_t inline_line = 64 * 1024;     ///< bytes of a command that is one line of text
};
// [/limits]

// [parser]
/// Finds commands in bytes that come in any pieces. Give it everything since the end of the last
/// command; if that is not a whole one, give it the same again with more at the end. It goes on
/// where it stopped, so a client that sends single bytes costs no more than another.
class Parser {
 public:
  enum class Found { command, nothing_yet, mistake };

  explicit Parser(ParserLimits limits = {}) : limits_(limits) {}

  Found next(std::string_view input);

  /// After `command`: its words, which point into the input, and how long it was.
  [[nodiscard]] Args args() const { return args_; }
  [[nodiscard]] std::size_t consumed() const { return consumed_; }
  /// After `mistake`: what to tell the client before we hang up.
  [[nodiscard]] const std::string& mistake() const { return mistake_; }
  // [/parser]

 private:
  Found line_of_words(std::string_view input);
  Found array_of_words(std::string_view input);
  std::optional<std::int64_t> number_line(std::string_view input, bool& is_bad);
  Found finish(std::size_t consumed) {
    consumed_ = consumed;
    expected_ = position_ = 0;
    return Found::command;
  }
  Found fail(std::string why) {
    mistake_ = "Protocol error: " + std::move(why);
    return Found::mistake;
  }

  ParserLimits limits_;
  std::vector<std::string_view> args_;
  std::string mistake_;
  std::size_t consumed_ = 0;
  // Of a command that has not come whole, together with the words found so far:
  const char* input_ = nullptr;  // where it was
  std::size_t expected_ = 0;     // how many words it has; 0: that is not known yet
  std::size_t position_ = 0;     // so far it is parsed
};

// [next]
inline Parser::Found Parser::next(std::string_view input) {
  if (input.empty()) return Found::nothing_yet;
  if (expected_ == 0) {
    args_.clear();
  } else if (input.data() != input_) {  // the same bytes at another place
    for (std::string_view& word : args_)
      word = {input.data() + (word.data() - input_), word.size()};
  }
  input_ = input.data();
  const Found found = input.front() == '*' ? array_of_words(input) : line_of_words(input);
  if (found == Found::nothing_yet && input.size() > limits_.command) {
    return fail("too big request");
  }
  return found;
}
// [/next]

// [array]
/// *2 CRLF $4 CRLF ECHO CRLF $2 CRLF hi CRLF
inline Parser::Found Parser::array_of_words(std::string_view input) {
  bool is_bad = false;
  if (expected_ == 0) {
    position_ = 1;
    const auto count = number_line(input, is_bad);
    if (is_bad || (count && *count > static_cast<std::int64_t>(limits_.args))) {
      return fail("invalid multibulk length");
    }
    if (!count) return Found::nothing_yet;
    if (*count <= 0) return finish(position_);  // a command of no words: skipped
    expected_ = static_cast<std::size_t>(*count);
  }
  while (args_.size() < expected_) {
    const std::size_t start = position_;  // of this word: we come back here if it is not whole
    if (start == input.size()) return Found::nothing_yet;
    if (input[start] != '$') return fail(std::string("expected '$', got '") + input[start] + "'");
    ++position_;
    const auto size = number_line(input, is_bad);
    if (is_bad || (size && (*size < 0 || *size > static_cast<std::int64_t>(limits_.bulk)))) {
      return fail("invalid bulk length");
    }
    const std::size_t length = size ? static_cast<std::size_t>(*size) : 0;
    if (!size || input.size() - position_ < length + 2) {
      position_ = start;
      return Found::nothing_yet;
    }
    args_.push_back(input.substr(position_, length));
    position_ += length + 2;
  }
  return finish(position_);
}
// [/array]

// [line]
/// What people type into netcat, and redis-benchmark's PING_INLINE: words between spaces.
inline Parser::Found Parser::line_of_words(std::string_view input) {
  const std::size_t end = input.find('\n', position_);
  if (end == std::string_view::npos) {
    position_ = input.size();  // no need to look there again
    return position_ > limits_.inline_line ? fail("too big inline request") : Found::nothing_yet;
  }
  for (std::size_t i = 0; i < end;) {
    while (i < end && (input[i] == ' ' || input[i] == '\r')) ++i;
    const std::size_t begin = i;
    while (i < end && input[i] != ' ' && input[i] != '\r') ++i;
    if (i > begin) args_.push_back(input.substr(begin, i - begin));
  }
  return finish(end + 1);
}
// [/line]

/// A number and CRLF at position_, which moves behind them. Empty: they have not come whole.
inline std::optional<std::int64_t> Parser::number_line(std::string_view input, bool& is_bad) {
  const std::string_view rest = input.substr(position_);
  const std::size_t begin = rest.starts_with('-') ? 1 : 0;
  constexpr std::size_t most = 18;  // digits that fit into 64 bits, whichever they are
  std::size_t end = begin;
  std::int64_t number = 0;
  while (end < rest.size() && end - begin < most && rest[end] >= '0' && rest[end] <= '9') {
    number = 10 * number + (rest[end++] - '0');
  }
  if (end == rest.size() || (end + 1 == rest.size() && rest[end] == '\r')) return std::nullopt;
  is_bad = end == begin || rest[end] != '\r' || rest[end + 1] != '\n';
  if (is_bad) return std::nullopt;
  position_ += end + 2;
  return begin == 0 ? number : -number;
}

// [replies]
// Replies are appended to a string, so that many of them make one write.
inline void add_simple(std::string& out, std::string_view text) {
  out.append("+").append(text).append("\r\n");
}
inline void add_ok(std::string& out) { out.append("+OK\r\n"); }
inline void add_error(std::string& out, std::string_view text) {
  out.append("-").append(text).append("\r\n");
}
inline void add_head(std::string& out, char kind, std::int64_t number) {
  std::array<char, 24> line;
  line[0] = kind;
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(line.data(), static_cast<std::size_t>(end - line.data()));
}
inline void add_integer(std::string& out, std::int64_t number) { add_head(out, ':', number); }
inline void add_array(std::string& out, std::size_t size) {
  add_head(out, '*', static_cast<std::int64_t>(size));
}
inline void add_bulk(std::string& out, std::string_view bytes) {
  add_head(out, '$', static_cast<std::int64_t>(bytes.size()));
  out.append(bytes).append("\r\n");
}
inline void add_nil(std::string& out) { out.append("$-1\r\n"); }
// [/replies]

}  // namespace mini
