#include "rouse/http/client_error.hpp"

namespace rouse::http {
namespace {

class ClientCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.http.client"; }
  std::string message(int value) const override {
    switch (static_cast<ClientError>(value)) {
      case ClientError::bad_url:
        return "not a URL of http or https: write https://host/path?query, encoded, at most 8 KiB";
      case ClientError::address_refused:
        return "allow_address refused all addresses of the host";
      case ClientError::proxy_refused:
        return "the proxy did not open a tunnel to the host";
      case ClientError::too_many_redirects:
        return "too many redirects";
      case ClientError::insecure_redirect:
        return "a redirect from https to http was not followed";
      case ClientError::unrepeatable_body:
        return "a redirect asks for the body again, but it was read from a stream: give a string";
      case ClientError::bad_encoding:
        return "the body is not what its Content-Encoding says";
      case ClientError::unexpected_upgrade:
        return "the server switched to a protocol that nobody asked for";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<ClientError>(value)) {
      case ClientError::bad_url:
        return std::make_error_condition(std::errc::invalid_argument);
      case ClientError::address_refused:
      case ClientError::insecure_redirect:
        return std::make_error_condition(std::errc::operation_not_permitted);
      case ClientError::bad_encoding:
      case ClientError::unexpected_upgrade:
        return std::make_error_condition(std::errc::protocol_error);
      default:
        return {value, *this};
    }
  }
};

std::string shown(Status status) {
  std::string text = std::to_string(number_of(status));
  if (!reason_of(status).empty()) text.append(1, ' ').append(reason_of(status));
  return text;
}

}  // namespace

const std::error_category& client_error_category() noexcept {
  static const ClientCategory category;
  return category;
}

StatusError::StatusError(http::Status status, const std::string& url)
    : std::runtime_error(url + ": " + shown(status)), status_(status) {}
StatusError::~StatusError() = default;

}  // namespace rouse::http
