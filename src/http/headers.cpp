#include "rouse/http/headers.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <system_error>

#include "rouse/http/error.hpp"

#include "http/headers_builder.hpp"
#include "http/text.hpp"

namespace rouse::http {
namespace {

/// The name as it may stand in a message to people: it may be anything.
std::string shown(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 64)) text += value_chars.has(c) ? c : '?';
  return text;
}

void check(std::string_view name, std::string_view value) {
  if (!is_token(name)) {
    throw std::system_error(make_error_code(Error::bad_header_name),
                            "http::Headers: '" + shown(name) + "'");
  }
  if (is_value(value)) return;
  const auto bad = std::ranges::find_if_not(value, [](char c) { return value_chars.has(c); });
  throw std::system_error(make_error_code(Error::bad_header_value),
                          "http::Headers: " + shown(name) + ", byte " +
                              std::to_string(bad - value.begin()) +
                              " (encode or refuse what users give before you set it)");
}

/// Whether it would be gone once the text grows.
bool is_of(const std::string& text, std::string_view part) noexcept {
  return std::less_equal<>()(text.data(), part.data()) &&
         std::less<>()(part.data(), text.data() + text.size());
}

}  // namespace

void Headers::set(std::string_view name, std::string_view value) {
  if (is_of(text_, name) || is_of(text_, value)) return set(std::string(name), std::string(value));
  value = trim(value);
  check(name, value);
  remove(name);
  HeadersBuilder(*this).add(name, value);
}

void Headers::add(std::string_view name, std::string_view value) {
  if (is_of(text_, name) || is_of(text_, value)) return add(std::string(name), std::string(value));
  value = trim(value);
  check(name, value);
  HeadersBuilder(*this).add(name, value);
}

bool Headers::remove(std::string_view name) noexcept {
  const std::size_t removed = std::erase_if(
      places_, [&](const Place& place) { return are_same_name(field(place).name, name); });
  if (places_.empty()) text_.clear();
  return removed != 0;
}

void Headers::clear() noexcept {
  text_.clear();
  places_.clear();
}

const Headers::Place* Headers::find(std::string_view name) const noexcept {
  for (const Place& place : places_) {
    if (are_same_name(field(place).name, name)) return &place;
  }
  return nullptr;
}

std::optional<std::string_view> Headers::get(std::string_view name) const noexcept {
  const Place* const place = find(name);
  if (!place) return std::nullopt;
  return field(*place).value;
}

bool Headers::contains(std::string_view name) const noexcept { return find(name) != nullptr; }

std::size_t Headers::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      places_, [&](const Place& place) { return are_same_name(field(place).name, name); }));
}

bool Headers::has_token(std::string_view name, std::string_view token) const noexcept {
  for (const Place& place : places_) {
    const Field each = field(place);
    if (!are_same_name(each.name, name)) continue;
    for (std::string_view list = each.value; !list.empty();) {
      if (are_same_name(take_member(list), token)) return true;
    }
  }
  return false;
}

}  // namespace rouse::http
