// UnixStream: a connection between programs on one machine.
//
//   auto peer = co_await net::UnixStream::connect("/run/app.sock");    // or "@name": abstract
//   co_await peer.write_all("hello\n");
//
//   auto [here, there] = net::UnixStream::pair();
//
// Reading and writing: see net::StreamSocket.
#pragma once

#include <cstdint>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/owned_halves.hpp"
#include "rouse/net/stream_socket.hpp"

namespace rouse::net {

/// The peer process, as of the connect or listen.
class PeerCred {
 public:
  PeerCred(std::int64_t its_pid, std::uint32_t its_uid, std::uint32_t its_gid) noexcept
      : pid(its_pid), uid(its_uid), gid(its_gid) {}
  std::int64_t pid;
  std::uint32_t uid;
  std::uint32_t gid;
};

class ROUSE_API UnixStream : public StreamSocket,
                             public io::ReadMembers<UnixStream>,
                             public io::WriteMembers<UnixStream>,
                             public OwnedSplit<UnixStream> {
 public:
  /// Connects to a socket: "unix:/path", "/path", "unix:@name" or "@name" (abstract: without a
  /// file). Completes when connected. While the listener's backlog is full it retries, after 1 ms
  /// at first and at most every 50 ms.
  /// Cancel safety: if dropped midway, the connection attempt is abandoned.
  /// Threads: tasks of a runtime.
  /// Errors: std::errc::no_such_file_or_directory, connection_refused (nobody listens, or no such
  /// abstract name), permission_denied; address_family_not_supported if it is an IP address;
  /// net::Error if it is not an address.
  static AsyncResult<UnixStream> connect(Endpoint endpoint);
  /// Two connected streams. Throws std::system_error.
  /// Threads: any, inside a runtime.
  static std::pair<UnixStream, UnixStream> pair();
  /// Takes over a connected socket.
  static Result<UnixStream> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixStream(io::AsyncFd io) noexcept
      : StreamSocket(std::move(io), ShortRead::may_hide_more) {}

  /// Throws std::system_error.
  [[nodiscard]] PeerCred peer_cred() const;
};

}  // namespace rouse::net

namespace rouse::io {
template <>
inline constexpr bool is_full_duplex<net::UnixStream> = true;
}  // namespace rouse::io
