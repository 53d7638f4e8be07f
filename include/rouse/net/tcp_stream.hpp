// TcpStream: a TCP connection.
//
//   auto peer = co_await net::TcpStream::connect("localhost:8080");
//   co_await peer.write_all("hello\n");
//   std::array<char, 4096> buf;
//   while (auto n = co_await peer.read(buf)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/owned_halves.hpp"
#include "rouse/net/stream_socket.hpp"

namespace rouse::net {

class ROUSE_API TcpStream : public StreamSocket,
                            public io::ReadMembers<TcpStream>,
                            public io::WriteMembers<TcpStream>,
                            public OwnedSplit<TcpStream> {
 public:
  /// Connects to a host. Completes when connected. If the host has several addresses, they are
  /// tried in turn: the next attempt starts when the previous one has failed or has not answered
  /// for 250 ms, and the first connection wins (happy eyeballs, RFC 8305).
  /// Cancel safety: if dropped midway, the connection attempt is abandoned.
  /// Threads: tasks of a runtime.
  /// Errors: those of lookup_host; std::errc::connection_refused, timed_out, network_unreachable
  /// and the like; if all addresses fail, that of the first.
  static AsyncResult<TcpStream> connect(Endpoint endpoint);
  /// Takes over a connected socket.
  static Result<TcpStream> from_fd(io::OwnedFd fd) noexcept;

  explicit TcpStream(io::AsyncFd io) noexcept : StreamSocket(std::move(io), ShortRead::is_all) {}

  // Options: these throw std::system_error.
  /// Small writes are sent at once instead of waiting for the acknowledgement of earlier ones.
  void set_nodelay(bool on);
  [[nodiscard]] bool nodelay() const;
  /// The system sends probes on an idle connection, and closes it if none is answered.
  void set_keepalive(bool on);
  [[nodiscard]] bool keepalive() const;
  /// What closing does with unsent bytes. Empty: they are sent in the background. Zero: they are
  /// lost and the peer sees a reset. Less than zero is invalid_argument.
  void set_linger(std::optional<std::chrono::seconds> time);
  [[nodiscard]] std::optional<std::chrono::seconds> linger() const;
  /// How far packets go: TTL of IPv4, hop limit of IPv6.
  void set_ttl(std::uint32_t hops);
  [[nodiscard]] std::uint32_t ttl() const;
};

}  // namespace rouse::net

namespace rouse::io {
template <>
inline constexpr bool is_full_duplex<net::TcpStream> = true;
}  // namespace rouse::io
