#include "http/ws_handshake.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <openssl/evp.h>

#include "rouse/base/result.hpp"

#include "http/text.hpp"
#include "http/write_head.hpp"
#include "sys/self.hpp"

namespace rouse::http::ws {
namespace {

std::string base64(std::span<const unsigned char> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and a NUL
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool is_base64_char(char c) noexcept { return is_letter(c) || is_digit(c) || c == '+' || c == '/'; }

/// Without the port that its scheme has anyway.
std::string_view without_usual_port(std::string_view host, std::string_view scheme) noexcept {
  const std::string_view port = are_same_name(scheme, "https") ? ":443" : ":80";
  return host.ends_with(port) ? host.substr(0, host.size() - port.size()) : host;
}

bool is_of_host(std::string_view origin, std::string_view host) noexcept {
  const std::size_t end = origin.find("://");
  if (end == std::string_view::npos) return false;  // "null"
  const std::string_view scheme = origin.substr(0, end);
  return are_same_name(without_usual_port(origin.substr(end + 3), scheme),
                       without_usual_port(host, scheme));
}

}  // namespace

std::string make_key() {
  std::array<unsigned char, 16> bytes{};
  sys::fill_randomly(std::as_writable_bytes(std::span(bytes))).value();
  return base64(bytes);
}

bool is_key(std::string_view key) noexcept {
  if (key.size() != 24 || !key.ends_with("==")) return false;
  // The last of 22 characters has 2 bits that count.
  return std::ranges::all_of(key.substr(0, 22), is_base64_char) &&
         std::string_view("AQgw").find(key[21]) != std::string_view::npos;
}

std::string accept_of(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, section 1.3
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha1(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  return base64(std::span(hash).first(size));
}

std::string choose_protocol(const Headers& offer, std::span<const std::string> spoken) {
  for (const std::string& protocol : spoken) {
    for (const Headers::Field field : offer) {
      if (!are_same_name(field.name, "Sec-WebSocket-Protocol")) continue;
      for (std::string_view list = field.value; !list.empty();) {
        if (take_member(list) == protocol) return protocol;
      }
    }
  }
  return {};
}

bool may_connect(const Request& request, const UpgradeOptions& options) {
  const Headers& headers = request.headers();
  const auto origin = headers.get("Origin");
  if (!origin) return true;
  if (headers.count("Origin") != 1) return false;
  if (options.allows_origin) return options.allows_origin(*origin, request);
  return is_of_host(*origin, headers.get("Host").value_or(""));
}

std::string write_handshake(std::string_view host, std::string_view target, std::string_view key,
                            const ConnectOptions& options) {
  Headers headers;
  headers.set("Host", options.headers.get("Host").value_or(host));
  for (const Headers::Field field : options.headers) {
    if (!are_same_name(field.name, "Host")) headers.add(field.name, field.value);
  }
  headers.set("Upgrade", "websocket");
  headers.set("Sec-WebSocket-Version", "13");
  headers.set("Sec-WebSocket-Key", key);
  headers.remove("Sec-WebSocket-Extensions");
  headers.remove("Sec-WebSocket-Protocol");
  std::string offer;
  for (const std::string& protocol : options.protocols) {
    if (!offer.empty()) offer += ", ";
    offer += protocol;
  }
  if (!offer.empty()) headers.set("Sec-WebSocket-Protocol", offer);
  Framing framing;
  framing.connection = "Upgrade";
  std::string head;
  write_request_head(head, Method::get, target, host, headers, framing);
  return head;
}

std::optional<std::string> judge_answer(const Head& answer, std::string_view key,
                                        std::span<const std::string> offered) {
  const Headers& headers = answer.headers;
  const bool is_accepted =
      answer.status == Status::switching_protocols && headers.has_token("Upgrade", "websocket") &&
      headers.has_token("Connection", "upgrade") && headers.count("Sec-WebSocket-Accept") == 1 &&
      headers.get("Sec-WebSocket-Accept") == accept_of(key) &&
      !headers.contains("Sec-WebSocket-Extensions");  // none was offered
  if (!is_accepted) return std::nullopt;
  const auto chosen = headers.get("Sec-WebSocket-Protocol");
  if (!chosen) return std::string();
  if (headers.count("Sec-WebSocket-Protocol") != 1) return std::nullopt;
  if (std::ranges::find(offered, *chosen) == offered.end()) return std::nullopt;
  return std::string(*chosen);
}

}  // namespace rouse::http::ws
