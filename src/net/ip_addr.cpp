#include "rouse/net/ip_addr.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <ostream>

#include "net/number.hpp"

namespace rouse::net {
namespace {

constexpr std::size_t groups_of_v6 = 8;
using Groups = std::array<std::uint16_t, groups_of_v6>;

std::optional<IpAddr::V4Bytes> parse_v4(std::string_view text) noexcept {
  IpAddr::V4Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_last = i + 1 == bytes.size();
    const std::size_t end = is_last ? text.size() : text.find('.');
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = parse_decimal(text.substr(0, end), 255);
    if (!number) return std::nullopt;
    bytes.at(i) = static_cast<std::uint8_t>(*number);
    text.remove_prefix(is_last ? end : end + 1);
  }
  return bytes;
}

std::optional<std::uint16_t> parse_group(std::string_view text) noexcept {
  std::uint16_t group = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), group, 16);
  if (error != std::errc() || stop != text.data() + text.size() || text.size() > 4)
    return std::nullopt;
  return group;
}

/// Groups between single colons, into `groups` from `count` on. An IPv4 address may be the last of
/// them if `v4_may_end`.
bool parse_groups(std::string_view text, bool v4_may_end, Groups& groups,
                  std::size_t& count) noexcept {
  if (text.empty()) return true;
  for (;;) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const bool is_last = colon == std::string_view::npos;
    if (is_last && v4_may_end && part.find('.') != std::string_view::npos) {
      const auto v4 = parse_v4(part);
      if (!v4 || count + 2 > groups.size()) return false;
      for (std::size_t i = 0; i < 4; i += 2) {
        groups.at(count++) = static_cast<std::uint16_t>(v4->at(i) << 8U | v4->at(i + 1));
      }
      return true;
    }
    const auto group = parse_group(part);
    if (!group || count == groups.size()) return false;
    groups.at(count++) = *group;
    if (is_last) return true;
    text.remove_prefix(colon + 1);
  }
}

IpAddr from_groups(const Groups& groups) noexcept {
  IpAddr::V6Bytes bytes{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bytes.at(2 * i) = static_cast<std::uint8_t>(groups.at(i) >> 8U);
    bytes.at(2 * i + 1) = static_cast<std::uint8_t>(groups.at(i) & 0xffU);
  }
  return IpAddr(bytes);
}

std::optional<IpAddr> parse_v6(std::string_view text) noexcept {
  const std::size_t gap = text.find("::");
  Groups groups{};
  std::size_t count = 0;
  if (gap == std::string_view::npos) {
    if (!parse_groups(text, true, groups, count) || count != groups.size()) return std::nullopt;
    return from_groups(groups);
  }
  if (!parse_groups(text.substr(0, gap), false, groups, count)) return std::nullopt;
  Groups tail{};
  std::size_t tail_count = 0;
  if (!parse_groups(text.substr(gap + 2), true, tail, tail_count)) return std::nullopt;
  if (count + tail_count >= groups.size()) return std::nullopt;  // the gap is at least one group
  std::copy_n(tail.begin(), tail_count, groups.end() - static_cast<std::ptrdiff_t>(tail_count));
  return from_groups(groups);
}

std::string print_v4(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    if (!text.empty()) text += '.';
    text += std::to_string(byte);
  }
  return text;
}

struct Run {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// The longest run of zero groups, the first of those; a single group is none (RFC 5952, 4.2).
Run longest_zeros(const Groups& groups) noexcept {
  Run longest;
  Run run;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    run = groups.at(i) != 0 ? Run{.begin = i + 1, .size = 0}
                            : Run{.begin = run.begin, .size = run.size + 1};
    if (run.size > longest.size) longest = run;
  }
  return longest.size < 2 ? Run() : longest;
}

void append_group(std::string& text, std::uint16_t group) {
  std::array<char, 4> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), group, 16).ptr;
  text.append(digits.data(), end);
}

std::string print_v6(std::span<const std::uint8_t> bytes) {
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups.at(i) = static_cast<std::uint16_t>(bytes[2 * i] << 8U | bytes[2 * i + 1]);
  }
  const Run zeros = longest_zeros(groups);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (zeros.size != 0 && i == zeros.begin) {
      text += "::";
      i += zeros.size - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    append_group(text, groups.at(i));
  }
  return text;
}

struct Prefix {
  std::uint32_t bits;  // the first 32 of the address
  unsigned length;
};

bool is_in_any(std::uint32_t bits, std::span<const Prefix> prefixes) noexcept {
  return std::ranges::any_of(prefixes, [bits](const Prefix& prefix) {
    return (bits ^ prefix.bits) >> (32 - prefix.length) == 0;
  });
}

std::uint32_t first_bits(std::span<const std::uint8_t> bytes) noexcept {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

/// IANA's registry of special addresses, and multicast.
constexpr std::array special_v4{
    Prefix{0x00000000, 8},   // this network
    Prefix{0x0A000000, 8},   // 10: private
    Prefix{0x64400000, 10},  // 100.64: shared by the customers of a provider
    Prefix{0x7F000000, 8},   // 127: loopback
    Prefix{0xA9FE0000, 16},  // 169.254: link-local, and the metadata of clouds
    Prefix{0xAC100000, 12},  // 172.16: private
    Prefix{0xC0000000, 24},  // 192.0.0: protocols
    Prefix{0xC0000200, 24},  // 192.0.2: documentation
    Prefix{0xC0586300, 24},  // 192.88.99: relays of 6to4
    Prefix{0xC0A80000, 16},  // 192.168: private
    Prefix{0xC6120000, 15},  // 198.18: measurements
    Prefix{0xC6336400, 24},  // 198.51.100: documentation
    Prefix{0xCB007100, 24},  // 203.0.113: documentation
    Prefix{0xE0000000, 3},   // 224 and above: multicast, reserved, broadcast
};
/// What is assigned to hosts is all in here ...
constexpr std::array unicast_v6{Prefix{0x20000000, 3}};
/// ... but for these.
constexpr std::array special_v6{
    Prefix{0x20010000, 23},  // 2001::, up to 2001:1ff: protocols, Teredo
    Prefix{0x20010DB8, 32},  // 2001:db8: documentation
    Prefix{0x20020000, 16},  // 2002: 6to4
    Prefix{0x3FFF0000, 20},  // 3fff: documentation
};

}  // namespace

Result<IpAddr> IpAddr::parse(std::string_view text) noexcept {
  if (text.find(':') != std::string_view::npos) {
    if (const auto v6 = parse_v6(text)) return *v6;
  } else if (const auto v4 = parse_v4(text)) {
    return IpAddr(*v4);
  }
  return make_error_code(Error::bad_ip);
}

bool IpAddr::is_global() const noexcept {
  constexpr V6Bytes nat64{0, 0x64, 0xff, 0x9b};
  const IpAddr ip = to_canonical();
  const std::span<const std::uint8_t> all = ip.bytes();
  if (!ip.is_v6_) return !is_in_any(first_bits(all), special_v4);
  if (std::equal(nat64.begin(), nat64.begin() + 12, all.begin())) {
    return !is_in_any(first_bits(all.last(4)), special_v4);
  }
  return is_in_any(first_bits(all), unicast_v6) && !is_in_any(first_bits(all), special_v6);
}

std::string IpAddr::to_string() const {
  if (!is_v6_) return print_v4(bytes());
  if (is_ipv4_mapped()) return "::ffff:" + print_v4(bytes().last(4));
  return print_v6(bytes());
}

std::ostream& operator<<(std::ostream& out, const IpAddr& address) {
  return out << address.to_string();
}

}  // namespace rouse::net
