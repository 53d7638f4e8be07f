// What the commands share: values of a kind, numbers, deadlines, errors.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include "mini/resp.hpp"
#include "mini/store.hpp"

namespace mini {

// [helpers]
inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view not_a_number = "ERR value is not an integer or out of range";
inline constexpr std::string_view syntax_error = "ERR syntax error";

/// The value if it is a T, else null.
template <class T>
T* as(Value& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::get_if<std::string>(&value);
  } else {
    auto* boxed = std::get_if<Boxed<T>>(&value);
    return boxed != nullptr ? boxed->get() : nullptr;
  }
}
/// The value at a key, if it is a T. If it is something else, the reply says so; if there is none,
/// `missing` is called and says what that means.
template <class T, class Missing>
T* find_as(Shard& shard, Name key, std::string& out, Missing missing) {
  Entry* entry = shard.find(key);
  if (entry == nullptr) {
    missing();
    return nullptr;
  }
  T* value = as<T>(entry->value);
  if (value == nullptr) add_error(out, wrong_type);
  return value;
}
/// The same; what is missing is made.
template <class T>
T* make_as(Shard& shard, Name key, std::string& out) {
  T* made = nullptr;
  const auto make = [&] {
    Value& value = shard.find_or_make(key).value;
    if constexpr (!std::is_same_v<T, std::string>) value = std::make_unique<T>();
    made = as<T>(value);
  };
  T* found = find_as<T>(shard, key, out, make);
  return found != nullptr ? found : made;
}
template <class T = std::int64_t>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}
// [/helpers]

/// Letters of commands and options may be small or capital.
inline bool is_word(std::string_view text, std::string_view capitals) {
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; };
  return std::ranges::equal(text, capitals, same);
}

inline void add_unknown(std::string& out, std::string_view name) {
  std::string text(name.substr(0, 128));
  std::erase_if(text, [](char letter) { return letter == '\r' || letter == '\n'; });
  add_error(out, "ERR unknown command '" + text + "'");
}
inline void add_wrong_number(std::string& out, std::string_view name) {
  add_error(out, "ERR wrong number of arguments for '" + std::string(name) + "' command");
}

/// So many units of that many milliseconds from now. Empty: later than anybody needs.
inline std::optional<Instant> after(std::int64_t count, std::int64_t unit) {
  constexpr std::int64_t longest = 1'000'000'000'000;  // 31 years
  if (count > longest / unit || count < -longest / unit) return std::nullopt;
  return rouse::time::now() + std::chrono::milliseconds(count * unit);
}

}  // namespace mini
