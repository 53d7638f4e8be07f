#include "net/resolve.hpp"

#include <algorithm>
#include <utility>

#include "rouse/net/lookup_host.hpp"

#include "exec/blocking/call_blocking.hpp"
#include "net/native_address.hpp"
#include "net/number.hpp"
#include "sys/resolve.hpp"

namespace rouse::net {

using namespace internal;

namespace {

constexpr std::size_t longest_host = 254;  // 253 and a dot at the end

bool is_graphic(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != 0x7f;
}

bool all_of_set(std::string_view text, std::string_view set) noexcept {
  return text.find_first_not_of(set) == std::string_view::npos;
}

/// Such a host is meant as an IPv4 address, and resolvers read odd ones as some address: "127.1",
/// "0x7f.1", "010.0.0.1".
bool ends_in_a_number(std::string_view host) noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.empty()) return false;
  if (last.starts_with("0x") || last.starts_with("0X")) {
    return all_of_set(last.substr(2), "0123456789abcdefABCDEF");
  }
  return all_of_set(last, "0123456789");
}

std::error_code check_host(std::string_view host) noexcept {
  if (host.empty()) return Error::empty_host;
  if (host.size() > longest_host || !std::ranges::all_of(host, is_graphic)) return Error::bad_host;
  if (host.find_first_of("[]/@:%") != std::string_view::npos) return Error::bad_host;
  if (ends_in_a_number(host)) return Error::bad_ip;
  return {};
}

Result<Target> at(const SocketAddr& address) {
  Target target;
  target.address = address;
  return target;
}

Result<Target> understand_host(std::string host, std::uint16_t port) {
  if (const auto ip = IpAddr::parse(host)) return at(SocketAddr(*ip, port));
  if (host.find(':') != std::string::npos) {  // IPv6 with a scope, or nonsense
    const auto scoped = SocketAddr::parse('[' + host + "]:" + std::to_string(port));
    if (!scoped) return scoped.error();
    return at(*scoped);
  }
  if (const std::error_code error = check_host(host)) return error;
  Target target;
  target.host = std::move(host);
  target.port = port;
  return target;
}

Result<Target> understand_text(const std::string& text) {
  const auto address = SocketAddr::parse(text);
  if (address) return at(*address);
  const bool is_host = address.error() == Error::bad_ip && !text.starts_with('[');
  if (!is_host) return address.error();

  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  if (const std::error_code error = check_host(host)) return error;
  if (colon == std::string::npos || colon + 1 == text.size()) {
    return make_error_code(Error::missing_port);
  }
  const auto port = parse_decimal(std::string_view(text).substr(colon + 1), 65'535);
  if (!port) return make_error_code(Error::bad_port);
  return understand_host(std::move(host), static_cast<std::uint16_t>(*port));
}

Result<std::vector<SocketAddr>> look_up(const Target& target) {
  const auto found = sys::resolve_host(target.host);
  if (!found) return found.error();
  std::vector<SocketAddr> addresses;
  for (const sys::NativeAddress& native : *found) {
    const auto address = from_native(native);
    if (!address || !address->is_ip()) continue;
    addresses.push_back(*address);
    addresses.back().set_port(target.port);
  }
  if (addresses.empty()) return make_error_code(Error::no_addresses);
  return interleave(addresses);
}

}  // namespace

Result<Target> understand(const Endpoint& endpoint) {
  if (endpoint.address()) return at(*endpoint.address());
  if (endpoint.port()) return understand_host(endpoint.text(), *endpoint.port());
  return understand_text(endpoint.text());
}

std::vector<SocketAddr> interleave(const std::vector<SocketAddr>& addresses) {
  std::vector<SocketAddr> preferred;
  std::vector<SocketAddr> others;
  for (const SocketAddr& address : addresses) {
    auto& list = address.is_ipv6() == addresses.front().is_ipv6() ? preferred : others;
    if (std::ranges::find(list, address) == list.end()) list.push_back(address);
  }
  std::vector<SocketAddr> mixed;
  for (std::size_t i = 0; i < std::max(preferred.size(), others.size()); ++i) {
    if (i < preferred.size()) mixed.push_back(preferred[i]);
    if (i < others.size()) mixed.push_back(others[i]);
  }
  return mixed;
}

AsyncResult<std::vector<SocketAddr>> resolve(Endpoint endpoint) {
  Result<Target> target = understand(endpoint);
  if (!target) co_return target.error();
  if (target->address) co_return std::vector<SocketAddr>(1, *target->address);
  auto call = [target = *std::move(target)] { return look_up(target); };
  co_return co_await call_blocking(std::move(call)).result();
}

AsyncResult<std::vector<SocketAddr>> lookup_host(Endpoint endpoint) {
  return resolve(std::move(endpoint));
}

}  // namespace rouse::net
