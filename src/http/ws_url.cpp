#include "http/ws_url.hpp"

#include "http/text.hpp"
#include "http/url.hpp"

namespace rouse::http::ws {

std::optional<SocketUrl> parse_socket_url(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return std::nullopt;
  SocketUrl socket;
  socket.is_secure = are_same_name(text.substr(0, mark), "wss");
  if (!socket.is_secure && !are_same_name(text.substr(0, mark), "ws")) return std::nullopt;
  const std::string_view rest = text.substr(mark);
  const std::string_view authority = rest.substr(3, rest.find_first_of("/?#", 3) - 3);
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  if (rest.find('#') != std::string_view::npos) return std::nullopt;

  const std::optional<Url> url =
      parse_url((socket.is_secure ? "https" : "http") + std::string(rest));
  if (!url) return std::nullopt;
  socket.host = url->origin.authority();
  socket.endpoint = url->origin.host_and_port();
  socket.target = url->target;
  return socket;
}

}  // namespace rouse::http::ws
