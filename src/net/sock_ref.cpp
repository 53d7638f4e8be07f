#include "rouse/net/sock_ref.hpp"

#include <algorithm>
#include <climits>
#include <system_error>

#include "net/native_address.hpp"
#include "net/socket.hpp"

namespace rouse::net {

using sys::SocketOption;

void SockRef::set_quickack(bool on) const {
  change_option(fd_, SocketOption::quick_ack, on ? 1 : 0);
}
bool SockRef::quickack() const { return option_of(fd_, SocketOption::quick_ack) != 0; }

void SockRef::set_user_timeout(std::chrono::milliseconds time) const {
  if (time.count() < 0) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "a negative time");
  }
  const auto most = std::min<std::chrono::milliseconds::rep>(time.count(), INT_MAX);
  change_option(fd_, SocketOption::user_timeout, static_cast<int>(most));
}
std::chrono::milliseconds SockRef::user_timeout() const {
  return std::chrono::milliseconds(option_of(fd_, SocketOption::user_timeout));
}

void SockRef::set_tos(std::uint8_t value) const {
  if (is_v6(fd_)) change_option(fd_, SocketOption::traffic_class_v6, value);
  change_option(fd_, SocketOption::tos, value);
}
std::uint8_t SockRef::tos() const {
  const auto option = is_v6(fd_) ? SocketOption::traffic_class_v6 : SocketOption::tos;
  return static_cast<std::uint8_t>(option_of(fd_, option));
}

void SockRef::bind_device(std::string_view interface) const {
  sys::set_device(fd_, interface).value();
}
std::string SockRef::device() const { return sys::get_device(fd_).value(); }

}  // namespace rouse::net
