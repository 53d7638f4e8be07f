// Json: a JSON text as a tree, strictly parsed, and a check against a JSON Schema, of which it
// knows what docs/sight.schema.json uses.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rouse::test {

class Json {
 public:
  enum class Type : std::uint8_t { null, boolean, integer, real, string, array, object };

  /// Throws std::runtime_error if that is no JSON, or has larger numbers than there is room for.
  static Json parse(std::string_view text) {
    Parser parser{text};
    Json whole = parser.value(0);
    parser.skip_space();
    if (parser.at != text.size()) parser.fail("something follows");
    return whole;
  }

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool has(const std::string& member) const { return members_.contains(member); }
  /// Null if there is none.
  [[nodiscard]] const Json& operator[](const std::string& member) const {
    static const Json none;
    const auto found = members_.find(member);
    return found == members_.end() ? none : found->second;
  }
  [[nodiscard]] const Json& operator[](std::size_t index) const {
    static const Json none;
    return index < items_.size() ? items_[index] : none;
  }
  [[nodiscard]] const std::vector<Json>& items() const { return items_; }
  [[nodiscard]] const std::map<std::string, Json>& members() const { return members_; }
  /// Empty, or 0, if it is of another type.
  [[nodiscard]] const std::string& string() const { return string_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Of a number that is no unsigned integer.
  [[nodiscard]] double real() const { return real_; }

  bool operator==(const Json&) const = default;

 private:
  struct Parser {
    std::string_view text;
    std::size_t at = 0;

    [[noreturn]] void fail(const std::string& why) const {
      throw std::runtime_error("no JSON: " + why + " at " + std::to_string(at) + ": " +
                               std::string(text.substr(at, 60)));
    }
    void skip_space() {
      while (at < text.size() &&
             std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos)
        ++at;
    }
    bool take(char c) {
      skip_space();
      if (at == text.size() || text[at] != c) return false;
      ++at;
      return true;
    }
    bool take(std::string_view word) {
      if (!text.substr(at).starts_with(word)) return false;
      at += word.size();
      return true;
    }
    Json value(unsigned depth) {
      if (depth > 500) fail("too deep");
      Json made;
      skip_space();
      if (take('{')) {
        made.type_ = Type::object;
        if (take('}')) return made;
        do {
          skip_space();
          std::string name = string();
          if (!take(':')) fail("no colon");
          if (!made.members_.emplace(std::move(name), value(depth + 1)).second) fail("twice");
        } while (take(','));
        if (!take('}')) fail("no }");
      } else if (take('[')) {
        made.type_ = Type::array;
        if (take(']')) return made;
        do made.items_.push_back(value(depth + 1));
        while (take(','));
        if (!take(']')) fail("no ]");
      } else if (at < text.size() && text[at] == '"') {
        made.type_ = Type::string;
        made.string_ = string();
      } else if (is_digit() || (at < text.size() && text[at] == '-')) {
        read_number(made);
      } else if (take("true")) {
        made.type_ = Type::boolean;
        made.number_ = 1;
      } else if (take("false")) {
        made.type_ = Type::boolean;
      } else if (!take("null")) {
        fail("no value");
      }
      return made;
    }
    bool is_digit() const {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    }
    void read_number(Json& made) {
      const std::size_t begin = at;
      const bool is_negative = take("-");
      if (!is_digit()) fail("no digit");
      made.number_ = number();
      made.type_ = Type::integer;
      bool is_real = is_negative;
      if (take(".")) is_real = skip_digits();
      if (take("e") || take("E")) {
        if (!take("-")) (void)take("+");
        is_real = skip_digits();
      }
      if (!is_real) return;
      made.type_ = Type::real;
      made.number_ = 0;
      made.real_ = std::stod(std::string(text.substr(begin, at - begin)));
    }
    bool skip_digits() {
      if (!is_digit()) fail("no digit");
      while (is_digit()) ++at;
      return true;
    }
    std::uint64_t number() {
      const std::size_t begin = at;
      std::uint64_t sum = 0;
      for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
        const auto digit = static_cast<std::uint64_t>(text[at] - '0');
        if (sum > (UINT64_MAX - digit) / 10) fail("too large");
        sum = 10 * sum + digit;
      }
      if (at - begin > 1 && text[begin] == '0') fail("a zero in front");
      return sum;
    }
    std::string string() {
      if (!take("\"")) fail("no string");
      std::string made;
      while (at < text.size() && text[at] != '"') {
        if (static_cast<unsigned char>(text[at]) < 0x20) fail("a control byte");
        if (text[at] == '\\') {
          ++at;
          escape(made);
        } else {
          const std::size_t length = utf8_length(text.substr(at));
          if (length == 0) fail("no UTF-8");
          made += text.substr(at, length);
          at += length;
        }
      }
      if (!take("\"")) fail("no end of a string");
      return made;
    }
    void escape(std::string& to) {
      constexpr std::string_view letters = "\"\\/bfnrt";
      constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
      if (at == text.size()) fail("an escape of nothing");
      const char c = text[at++];
      if (const std::size_t which = letters.find(c); which != std::string_view::npos) {
        to += meant[which];
        return;
      }
      unsigned code = 0;
      if (c != 'u' || text.size() - at < 4) fail("an escape");
      for (int i = 0; i < 4; ++i) {
        const std::size_t digit = std::string_view("0123456789abcdef").find(text[at++]);
        if (digit == std::string_view::npos) fail("an escape");
        code = 16 * code + static_cast<unsigned>(digit);
      }
      if (code >= 0xd800 && code < 0xe000) fail("half a character");
      if (code < 0x80) {
        to += static_cast<char>(code);
      } else if (code < 0x800) {
        to += static_cast<char>(0xc0 | code >> 6);
        to += static_cast<char>(0x80 | (code & 0x3f));
      } else {
        to += static_cast<char>(0xe0 | code >> 12);
        to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        to += static_cast<char>(0x80 | (code & 0x3f));
      }
    }
  };

 public:
  /// Of the character that the text begins with; 0: it is none. By the table of RFC 3629.
  static std::size_t utf8_length(std::string_view text) {
    const auto in = [&](std::size_t i, unsigned low, unsigned high) {
      return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
             static_cast<unsigned char>(text[i]) <= high;
    };
    if (in(0, 0, 0x7f)) return 1;
    if (in(0, 0xc2, 0xdf) && in(1, 0x80, 0xbf)) return 2;
    const bool three =
        (in(0, 0xe0, 0xe0) && in(1, 0xa0, 0xbf)) || (in(0, 0xe1, 0xec) && in(1, 0x80, 0xbf)) ||
        (in(0, 0xed, 0xed) && in(1, 0x80, 0x9f)) || (in(0, 0xee, 0xef) && in(1, 0x80, 0xbf));
    if (three && in(2, 0x80, 0xbf)) return 3;
    const bool four = (in(0, 0xf0, 0xf0) && in(1, 0x90, 0xbf)) ||
                      (in(0, 0xf1, 0xf3) && in(1, 0x80, 0xbf)) ||
                      (in(0, 0xf4, 0xf4) && in(1, 0x80, 0x8f));
    return four && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }

 private:
  Type type_ = Type::null;
  std::uint64_t number_ = 0;
  double real_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::map<std::string, Json> members_;
};

class JsonSchema {
 public:
  explicit JsonSchema(Json schema) : root_(std::move(schema)) {}

  /// Why it is not valid; empty: it is.
  [[nodiscard]] std::string problem_of(const Json& value) const {
    static std::mutex mutex;  // two regular expressions of libstdc++ at once are a race
    const std::lock_guard lock(mutex);
    return check(root_, value, "$");
  }

 private:
  static bool is_of_type(const Json& value, const std::string& type) {
    if (type == "object") return value.type() == Json::Type::object;
    if (type == "array") return value.type() == Json::Type::array;
    if (type == "string") return value.type() == Json::Type::string;
    if (type == "integer") return value.type() == Json::Type::integer;
    throw std::runtime_error("the schema has a type that is not known: " + type);
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the value
  [[nodiscard]] std::string check(const Json& schema, const Json& value,
                                  const std::string& path) const {
    std::string problem;
    for (const auto& [keyword, what] : schema.members()) {
      if (problem.empty()) problem = check(schema, keyword, what, value, path);
    }
    return problem;
  }
  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] std::string check(const Json& schema, const std::string& keyword, const Json& what,
                                  const Json& value, const std::string& path) const {
    if (keyword == "$ref") {
      const std::string prefix = "#/$defs/";
      const std::string name = what.string().substr(prefix.size());
      if (!what.string().starts_with(prefix) || !root_["$defs"].has(name)) {
        throw std::runtime_error("the schema refers to nothing: " + what.string());
      }
      return check(root_["$defs"][name], value, path);
    }
    if (keyword == "type") {
      return is_of_type(value, what.string()) ? "" : path + " is no " + what.string();
    }
    if (keyword == "const") return value == what ? "" : path + " is another constant";
    if (keyword == "enum") {
      for (const Json& one : what.items()) {
        if (one == value) return "";
      }
      return path + " is none of the enum: " + value.string();
    }
    if (keyword == "minimum") return value.number() >= what.number() ? "" : path + " is too small";
    if (keyword == "minItems") {
      return value.items().size() >= what.number() ? "" : path + " has too few";
    }
    if (keyword == "maxItems") {
      return value.items().size() <= what.number() ? "" : path + " has too many";
    }
    if (keyword == "pattern") {
      return std::regex_search(value.string(), std::regex(what.string())) ? "" : path + ": pattern";
    }
    if (keyword == "required") {
      for (const Json& name : what.items()) {
        if (!value.has(name.string())) return path + " has no " + name.string();
      }
      return "";
    }
    if (keyword == "additionalProperties") {
      for (const auto& [name, member] : value.members()) {
        if (!schema["properties"].has(name)) return path + " has a member " + name;
      }
      return "";
    }
    if (keyword == "properties") {
      for (const auto& [name, member] : value.members()) {
        if (!what.has(name)) continue;
        if (auto problem = check(what[name], member, path + "." + name); !problem.empty()) {
          return problem;
        }
      }
      return "";
    }
    if (keyword == "items") {
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        auto problem = check(what, value[i], path + "[" + std::to_string(i) + "]");
        if (!problem.empty()) return problem;
      }
      return "";
    }
    if (keyword == "anyOf") {
      std::string all;
      for (const Json& one : what.items()) {
        const std::string problem = check(one, value, path);
        if (problem.empty()) return "";
        all += (all.empty() ? "" : ", and ") + problem;
      }
      return all;
    }
    for (const char* const says_nothing : {"$schema", "$defs", "title", "description"}) {
      if (keyword == says_nothing) return "";
    }
    throw std::runtime_error("the schema has a keyword that is not known: " + keyword);
  }

  Json root_;
};

}  // namespace rouse::test
