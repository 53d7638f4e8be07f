// Addresses as text. Whatever the bytes are: parsing ends in a value or an error of net::Error,
// what was parsed prints to text that parses to the same value, and a plain parser and the C
// library, where they have the same question, give the same answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rouse/net/endpoint.hpp"
#include "rouse/net/ip_addr.hpp"
#include "rouse/net/socket_addr.hpp"

#include "address_oracle.hpp"
#include "input.hpp"
#include "net/native_address.hpp"
#include "net/resolve.hpp"

namespace rouse::fuzz {
namespace {

void require_net_error(const std::error_code& error) {
  require(error.category() == net::error_category(), "an error of parsing is a net::Error");
  require(error.message() != "unknown error", "each net::Error has a message");
  require(error == std::errc::invalid_argument, "each net::Error is an invalid_argument");
}

void check_ip_value(const IpAddr& ip) {
  const std::string printed = ip.to_string();
  require(IpAddr::parse(printed).value() == ip, "an IP address prints to what parses to it");
  require(system_parse(printed) == ip, "inet_pton reads what we print");
  const std::string systems = system_print(ip);
  const bool must_agree = ip.is_ipv4() || systems.find('.') == std::string::npos;
  require(!must_agree || printed == systems, "we print what inet_ntop prints");
  const IpAddr canonical = ip.to_canonical();
  require(canonical.to_canonical() == canonical, "canonical stays canonical");
  require(ip.is_unspecified() == (canonical == IpAddr::any() || canonical == IpAddr::any_v6()),
          "unspecified is 0.0.0.0 or ::");
}

void check_socket_value(const SocketAddr& address) {
  const std::string printed = address.to_string();
  const auto again = SocketAddr::parse(printed);
  require(again.value() == address, "an address prints to what parses to it");
  require(std::hash<SocketAddr>()(*again) == std::hash<SocketAddr>()(address),
          "equal addresses have equal hashes");
  const auto native = net::to_native(address);
  require(net::from_native(native).value() == address, "the system's form is the same address");
  if (address.is_ip()) check_ip_value(address.ip());
}

void check_ip_text(const std::string& text) {
  const auto ours = IpAddr::parse(text);
  if (!ours) require_net_error(ours.error());
  if (ours) check_ip_value(*ours);
  if (text.find('\0') != std::string::npos) {
    require(!ours, "no address has a NUL in it");
    return;
  }
  const std::optional<IpAddr> systems = system_parse(text);
  require(systems.has_value() == ours.has_value(), "we parse what inet_pton parses");
  if (!ours) return;
  require(*systems == *ours, "we parse it to what inet_pton parses it to");
  require(system_resolve(text) == SocketAddr(*ours, 0), "getaddrinfo finds the same address");
}

void check_socket_text(const std::string& text) {
  const auto address = SocketAddr::parse(text);
  if (!text.starts_with("unix:")) {
    const auto plain = plain_parse(text);
    require(plain.has_value() == address.has_value(), "we parse what the plain parser parses");
    require(!plain || *plain == *address, "to the same address");
  }
  if (!address) return require_net_error(address.error());
  check_socket_value(*address);
  if (!address->is_ipv6()) return;
  const std::string inside = text.substr(1, text.find(']') - 1);
  SocketAddr expected = *address;
  expected.set_port(0);
  require(system_resolve(inside) == expected, "getaddrinfo finds the same address and scope");
}

void check_unix(const std::string& text) {
  if (const auto path = SocketAddr::unix_path(text)) {
    const std::string printed = path->to_string();
    const bool needs_dot = text.starts_with('@');
    require(printed == (needs_dot ? "unix:./" : "unix:") + text, "a path prints as it is");
    if (!needs_dot) check_socket_value(*path);
  } else {
    require_net_error(path.error());
  }
  if (const auto name = SocketAddr::unix_abstract(text)) {
    require(name->path() == text, "an abstract name is any bytes");
    check_socket_value(*name);
  }
}

void check_endpoint(const std::string& text) {
  const auto target = net::understand(net::Endpoint(text));
  const auto address = SocketAddr::parse(text);
  if (address) require(target && target->address == *address, "an address is its own endpoint");
  if (!target) return require_net_error(target.error());
  if (target->address) return;
  require(!target->host.empty() && target->host.size() <= 254, "a host has 1 to 254 characters");
  require(target->host.find('\0') == std::string::npos, "no host has a NUL in it");
  require(!system_parse(target->host), "a host is no address");
  const auto again = net::understand(net::Endpoint(target->host, target->port));
  require(again && again->host == target->host && again->port == target->port,
          "host and port apart are the same as together");
  require(net::Endpoint(target->host, target->port).to_string() == text,
          "host and port print as they were written");
}

void check_bytes(const std::string& bytes) {
  Input input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto port = static_cast<std::uint16_t>(input.number(2));
  IpAddr::V6Bytes v6{};
  for (std::uint8_t& byte : v6) byte = input.byte();
  IpAddr::V4Bytes v4{};
  std::copy_n(v6.begin(), v4.size(), v4.begin());
  check_socket_value(SocketAddr(IpAddr(v4), port));
  check_socket_value(SocketAddr(IpAddr(v6), port, static_cast<std::uint32_t>(input.number(4))));
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  rouse::fuzz::check_ip_text(text);
  rouse::fuzz::check_socket_text(text);
  rouse::fuzz::check_unix(text);
  rouse::fuzz::check_endpoint(text);
  rouse::fuzz::check_bytes(text);
  return 0;
}
