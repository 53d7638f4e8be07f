#include "sys/resolve.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <new>
#include <system_error>

namespace rouse::sys {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.net.lookup"; }
  std::string message(int value) const override { return ::gai_strerror(value); }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (value) {
      case EAI_NONAME:
      case EAI_NODATA:
        return std::make_error_condition(std::errc::address_not_available);
      case EAI_AGAIN:
        return std::make_error_condition(std::errc::resource_unavailable_try_again);
      case EAI_MEMORY:
        return std::make_error_condition(std::errc::not_enough_memory);
      default:
        return {value, *this};
    }
  }
};

std::error_code lookup_error(int error) noexcept {
  static const Category category;
  if (error == EAI_SYSTEM) return {errno, std::system_category()};
  return {error, category};
}

struct Free {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

}  // namespace

Result<std::vector<NativeAddress>> resolve_host(const std::string& host) noexcept {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;  // else each address comes once for every type of socket
  addrinfo* found = nullptr;
  int error = 0;
  do {
    error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  } while (error == EAI_SYSTEM && errno == EINTR);
  if (error != 0) return lookup_error(error);
  const std::unique_ptr<addrinfo, Free> list(found);
  try {
    std::vector<NativeAddress> addresses;
    for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
      NativeAddress& address = addresses.emplace_back();
      std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
      address.size = info->ai_addrlen;
    }
    return addresses;
  } catch (const std::bad_alloc&) {
    return std::errc::not_enough_memory;
  }
}

std::uint32_t interface_number(std::string_view name) noexcept {
  char text[IF_NAMESIZE] = {};
  if (name.size() >= sizeof text || name.find('\0') != std::string_view::npos) return 0;
  name.copy(text, name.size());
  return ::if_nametoindex(text);
}

}  // namespace rouse::sys
