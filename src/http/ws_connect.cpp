#include "rouse/http/ws_connect.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "rouse/http/error.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/tls/connector.hpp"

#include "http/head.hpp"
#include "http/parser.hpp"
#include "http/ws_connection.hpp"
#include "http/ws_handshake.hpp"
#include "http/ws_url.hpp"

namespace rouse::http::ws {
namespace {

/// Smaller than the room of a Protocol, which gets what was read too much.
constexpr std::size_t answer_piece = 4096;

AsyncResult<Socket> shake_hands(io::AnyConnection stream, std::string host, std::string target,
                                ConnectOptions options) {
  const std::string key = make_key();
  const std::string request = write_handshake(host, target, key, options);
  co_await stream.write_all(request);
  co_await stream.flush();

  Parser parser(Parser::Kind::responses);
  std::array<std::byte, answer_piece> piece;
  std::span<const std::byte> came;
  while (parser.stage() == Parser::Stage::head) {
    const std::size_t n = co_await stream.read(piece);
    if (n == 0) co_return io::Error::unexpected_eof;
    came = std::span<const std::byte>(piece).first(n);
    came = came.subspan(parser.parse_head(came));
  }
  if (parser.stage() == Parser::Stage::failed) co_return http::Error::bad_message;
  auto protocol = judge_answer(parser.head(), key, options.protocols);
  if (!protocol) co_return Error::refused;
  co_return Socket(make_ref<Connection>(std::move(stream), Role::client, options.limits,
                                        *std::move(protocol), came));
}

AsyncResult<Socket> dial(SocketUrl url, ConnectOptions options) {
  auto tcp = co_await net::TcpStream::connect(url.endpoint);
  tcp.set_nodelay(true);
  if (!url.is_secure) {
    co_return co_await shake_hands(std::move(tcp), std::move(url.host), std::move(url.target),
                                   std::move(options));
  }
  static const tls::Connector connector;
  auto stream = co_await connector.connect(std::move(tcp), url.endpoint);
  co_return co_await shake_hands(std::move(stream), std::move(url.host), std::move(url.target),
                                 std::move(options));
}

}  // namespace

AsyncResult<Socket> connect(std::string url, ConnectOptions options) {
  auto parsed = parse_socket_url(url);
  if (!parsed) co_return Error::bad_url;
  const auto time = options.connect_time;
  auto dialing = dial(*std::move(parsed), std::move(options));
  co_return co_await timeout_or_deadline(time, std::move(dialing));
}

AsyncResult<Socket> connect(io::AnyConnection stream, std::string host, std::string target,
                            ConnectOptions options) {
  if (!is_target(target) || !target.starts_with('/')) co_return http::Error::bad_target;
  const auto time = options.connect_time;
  auto shaking =
      shake_hands(std::move(stream), std::move(host), std::move(target), std::move(options));
  co_return co_await timeout_or_deadline(time, std::move(shaking));
}

}  // namespace rouse::http::ws
