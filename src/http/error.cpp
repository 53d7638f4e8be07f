#include "rouse/http/error.hpp"

#include <string>

namespace rouse::http {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.http"; }
  std::string message(int value) const override {
    switch (static_cast<Error>(value)) {
      case Error::bad_header_name:
        return "the name of a header field is empty or has a character that none can have";
      case Error::bad_header_value:
        return "the value of a header field has a CR, an LF, a NUL or another control character";
      case Error::bad_target:
        return "not a target of a request: write /path?query, without spaces and control "
               "characters";
      case Error::bad_message:
        return "the peer sent what is not HTTP, or not safely so";
      case Error::head_too_long:
        return "the request line or the header fields of the peer are longer than allowed";
      case Error::too_slow:
        return "the peer took longer than allowed";
      case Error::wrong_length:
        return "a body gave fewer or more bytes than its length said";
      case Error::exchange_over:
        return "the body of a request was read after the request was answered: read it in the "
               "handler, or in the body of the answer";
      case Error::no_upgrade:
        return "the request does not ask for another protocol";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Error>(value)) {
      case Error::bad_header_name:
      case Error::bad_header_value:
      case Error::bad_target:
        return std::make_error_condition(std::errc::invalid_argument);
      case Error::bad_message:
        return std::make_error_condition(std::errc::protocol_error);
      case Error::head_too_long:
        return std::make_error_condition(std::errc::message_size);
      case Error::too_slow:
        return std::make_error_condition(std::errc::timed_out);
      default:
        return {value, *this};
    }
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

}  // namespace rouse::http
