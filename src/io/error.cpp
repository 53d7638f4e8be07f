#include "rouse/io/error.hpp"

#include <string>

#include "sys/fd.hpp"

namespace rouse::io {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.io"; }
  std::string message(int value) const override {
    switch (static_cast<Error>(value)) {
      case Error::unexpected_eof:
        return "the stream ended in the midst of what was to be read";
      case Error::write_zero:
        return "the writer takes no more bytes";
      case Error::too_long:
        return "longer than the limit that was set for it";
      case Error::invalid_data:
        return "what was read is not valid here";
      case Error::not_pollable:
        return "this kind of descriptor can't be waited for (a regular file or /dev/null is always "
               "ready): use rouse::fs::File, or read and write it directly";
      case Error::runtime_ended:
        return "the runtime in which this would wait has been shut down";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Error>(value)) {
      case Error::too_long:
        return std::make_error_condition(std::errc::message_size);
      case Error::not_pollable:
        return std::make_error_condition(std::errc::operation_not_permitted);
      case Error::runtime_ended:
        return std::make_error_condition(std::errc::operation_canceled);
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

bool would_block(std::error_code error) noexcept { return sys::would_block(error); }

}  // namespace rouse::io
