#include "net/socket.hpp"

#include <algorithm>
#include <climits>

#include "rouse/net/socket.hpp"

#include "net/native_address.hpp"

namespace rouse::net {

SocketAddr Socket::local_addr() const { return local_address(fd()); }
SocketAddr Socket::peer_addr() const {
  return from_native(sys::peer_address(fd()).value()).value();
}
Result<void> Socket::take_error() noexcept { return sys::take_error(fd()); }

SocketAddr local_address(int fd) { return from_native(sys::local_address(fd).value()).value(); }

void change_option(int fd, sys::SocketOption option, int value) {
  sys::set_option(fd, option, value).value();
}
int option_of(int fd, sys::SocketOption option) { return sys::get_option(fd, option).value(); }

int clamp_to_int(std::size_t number) noexcept {
  return static_cast<int>(std::min<std::size_t>(number, INT_MAX));
}
int whole_seconds(std::chrono::seconds time) {
  if (time.count() < 0) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "a negative time");
  }
  return static_cast<int>(std::min<std::chrono::seconds::rep>(time.count(), INT_MAX));
}
void change_linger(int fd, std::optional<std::chrono::seconds> time) {
  std::optional<int> seconds;
  if (time) seconds = whole_seconds(*time);
  sys::set_linger(fd, seconds).value();
}

std::error_code address_error(int fd, const SocketAddr& address, std::error_code error) noexcept {
  const Result<int> family = sys::family_of(fd);
  if (!family || *family == native_family(address)) return error;
  return std::make_error_code(std::errc::address_family_not_supported);
}

bool is_v6(int fd) {
  return sys::family_of(fd).value() == native_family(SocketAddr(IpAddr::any_v6(), 0));
}

namespace {

sys::SocketOption hops_option(int fd) {
  return is_v6(fd) ? sys::SocketOption::hops_v6 : sys::SocketOption::ttl;
}

}  // namespace

void change_hops(int fd, std::uint32_t hops) {
  change_option(fd, hops_option(fd), clamp_to_int(hops));
}
std::uint32_t hops_of(int fd) { return static_cast<std::uint32_t>(option_of(fd, hops_option(fd))); }

Result<AcceptedFd> accept_next(int listener) noexcept {
  constexpr int most_passed_over = 64;
  for (int tries = 0;; ++tries) {
    AcceptedFd accepted;
    Result<io::OwnedFd> fd = sys::accept(listener, accepted.peer);
    if (fd) {
      accepted.fd = *std::move(fd);
      return accepted;
    }
    if (!sys::is_of_one_connection(fd.error()) || tries == most_passed_over) return fd.error();
  }
}

}  // namespace rouse::net
