// Gate: which requests are answered. Whoever may connect to the Unix socket may ask (the system
// says who that is: inspector.cpp). A TCP port is open to every user of the machine, and to every
// web page that a browser on it shows; so there a request must
//  - have a loopback name as its Host: else it is of a page whose name was made to mean 127.0.0.1
//    (DNS rebinding),
//  - have no Origin, or that same one: else it is of another page,
//  - have the token, unless it asks for the page itself, in which there is nothing to hide.
#pragma once

#include <array>
#include <string_view>

#include "rouse/base/result.hpp"

#include "sight/http_request.hpp"

namespace rouse::sight {

class Token {
 public:
  /// 128 random bits, as 32 digits. Errors: those of getrandom(2).
  static Result<Token> make() noexcept;

  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), text_.size()}; }
  /// Takes as long however much of it is right.
  [[nodiscard]] bool is(std::string_view guess) const noexcept;

 private:
  Token() noexcept = default;
  std::array<char, 32> text_{};
};

/// "localhost", 127.0.0.1 and the like, with or without a port.
bool is_loopback_host(std::string_view host) noexcept;

/// For a request that came by TCP; ok: it is to be answered.
HttpStatus judge(const HttpRequest& request, const Token& token) noexcept;

}  // namespace rouse::sight
