#include "sight/gate.hpp"

#include <algorithm>
#include <cstddef>

#include "sys/self.hpp"

namespace rouse::sight {

Result<Token> Token::make() noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::byte, 16> random{};
  if (const Result<void> filled = sys::fill_randomly(random); !filled) return filled.error();
  Token token;
  for (std::size_t i = 0; i < random.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(random[i]);
    token.text_[2 * i] = digits[byte / 16];
    token.text_[2 * i + 1] = digits[byte % 16];
  }
  return token;
}

bool Token::is(std::string_view guess) const noexcept {
  if (guess.size() != text_.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    differences |= static_cast<unsigned char>(text_[i]) ^ static_cast<unsigned char>(guess[i]);
  }
  return differences == 0;
}

bool is_loopback_host(std::string_view host) noexcept {
  const std::size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  const std::string_view name = host.substr(0, colon);
  if (name != "localhost" && name != "127.0.0.1" && name != "[::1]") return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = host.substr(colon + 1);
  return !port.empty() && port.size() <= 5 &&
         std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

HttpStatus judge(const HttpRequest& request, const Token& token) noexcept {
  if (!is_loopback_host(request.host)) return HttpStatus::forbidden;
  if (request.origin) {
    constexpr std::string_view scheme = "http://";
    if (!request.origin->starts_with(scheme) ||
        request.origin->substr(scheme.size()) != request.host) {
      return HttpStatus::forbidden;
    }
  }
  if (request.path == "/") return HttpStatus::ok;
  constexpr std::string_view bearer = "Bearer ";
  const std::string_view given = request.authorization.value_or("");
  if (!given.starts_with(bearer) || !token.is(given.substr(bearer.size()))) {
    return HttpStatus::unauthorized;
  }
  return HttpStatus::ok;
}

}  // namespace rouse::sight
