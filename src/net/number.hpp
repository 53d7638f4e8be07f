// Strict numbers in addresses: digits and nothing else, no sign, no leading zero.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rouse::net {

/// The decimal number that `text` is, all of it; at most `max`.
inline std::optional<std::uint32_t> parse_decimal(std::string_view text,
                                                  std::uint32_t max) noexcept {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::uint32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number > max)
    return std::nullopt;
  return number;
}

}  // namespace rouse::net
