// TcpStream: a TCP connection.
//
//   auto peer = co_await net::TcpStream::connect("localhost:8080");
//   co_await peer.write_all("hello\n");
//   std::array<char, 4096> buf;
//   while (auto n = co_await peer.read(buf)) ...
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/concurrent_halves.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/split.hpp"
#include "rouse/io/write.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/stream_socket.hpp"

namespace rouse::net {

class ROUSE_API TcpStream : public StreamSocket,
                            public io::ReadMembers<TcpStream>,
                            public io::WriteMembers<TcpStream> {
 public:
  /// Connects to a host. If it has several addresses they are tried in turn, each begun when the
  /// one before has failed or has not answered for 250 ms, and the first connection wins (happy
  /// eyeballs, RFC 8305). Completes when connected. Dropped midway, the connection is given up.
  /// Tasks of a runtime. Errors: those of lookup_host; std::errc::connection_refused, timed_out,
  /// network_unreachable and the like: of the first address, if all failed.
  static Attempt<TcpStream> connect(Endpoint endpoint);
  /// A connected socket of yours.
  static Result<TcpStream> from_fd(io::OwnedFd fd) noexcept;

  explicit TcpStream(io::AsyncFd io) noexcept : StreamSocket(std::move(io), ShortRead::is_all) {}

  /// Two halves for two tasks, on any threads. The stream has moved into them and is closed when
  /// both are gone; `shutdown` of the write half ends its direction before.
  auto split() { return io::split(std::move(*this)); }
  /// No longer watched; blocking no more and no less than before: not at all.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }

  // Options: these throw std::system_error.
  /// Small writes are sent at once instead of waiting for the answer to those before.
  void set_nodelay(bool on);
  [[nodiscard]] bool nodelay() const;
  void set_keepalive(bool on);
  [[nodiscard]] bool keepalive() const;
  /// What closing does with bytes that are not sent yet. Nothing: they are sent meanwhile. Zero:
  /// they are lost and the other side sees a reset. Less than zero is invalid_argument.
  void set_linger(std::optional<std::chrono::seconds> time);
  [[nodiscard]] std::optional<std::chrono::seconds> linger() const;
  void set_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t ttl() const;
};

}  // namespace rouse::net

namespace rouse::io {
template <>
inline constexpr bool concurrent_halves<net::TcpStream> = true;
}  // namespace rouse::io
