#include "rouse/net/error.hpp"

#include <string>

namespace rouse::net {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.net"; }
  std::string message(int value) const override {
    switch (static_cast<Error>(value)) {
      case Error::bad_ip:
        return "not an IP address: write 127.0.0.1 or [::1]";
      case Error::missing_port:
        return "the address has no port: write 127.0.0.1:80 or [::1]:80";
      case Error::bad_port:
        return "the port is no number from 0 to 65535";
      case Error::bad_scope:
        return "the scope of an IPv6 address is no interface: write [fe80::1%eth0]:80, or its "
               "number";
      case Error::ipv6_needs_brackets:
        return "an IPv6 address with a port needs brackets: write [::1]:80";
      case Error::unclosed_bracket:
        return "the address has a '[' without a ']': write [::1]:80";
      case Error::empty_host:
        return "there is no host before the ':'";
      case Error::bad_host:
        return "the host name is too long or has a character that none can have";
      case Error::empty_path:
        return "the path of a Unix address is empty";
      case Error::path_too_long:
        return "the path of a Unix address is longer than 107 bytes";
      case Error::path_has_nul:
        return "the path of a Unix address has a NUL in it";
      case Error::no_addresses:
        return "the host has no address";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int) const noexcept override {
    return std::make_error_condition(std::errc::invalid_argument);
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

}  // namespace rouse::net
