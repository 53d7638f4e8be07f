// UnixStream: a connection between programs of one machine.
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

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/concurrent_halves.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/split.hpp"
#include "rouse/io/write.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/stream_socket.hpp"

namespace rouse::net {

/// The process at the other end, as it was when it connected or listened.
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
                             public io::WriteMembers<UnixStream> {
 public:
  /// Connects to a socket: "unix:/path", "/path", "unix:@name" or "@name" (abstract: in no
  /// directory). Completes when it is connected; while too many wait there to be accepted it tries
  /// again, after 1 ms at first and up to 50 ms. Dropped midway, the connection is given up. Tasks
  /// of a runtime. Errors: std::errc::no_such_file_or_directory, connection_refused (nobody
  /// listens, or an abstract name that nobody has), permission_denied; address_family_not_supported
  /// if it is an IP address; net::Error if it is no address.
  static Attempt<UnixStream> connect(Endpoint endpoint);
  /// Two streams that are connected to each other. Throws std::system_error. Inside a runtime.
  static std::pair<UnixStream, UnixStream> pair();
  /// A connected socket of yours.
  static Result<UnixStream> from_fd(io::OwnedFd fd) noexcept;

  explicit UnixStream(io::AsyncFd io) noexcept
      : StreamSocket(std::move(io), ShortRead::may_hide_more) {}

  /// Two halves for two tasks, on any threads: see TcpStream::split.
  auto split() { return io::split(std::move(*this)); }
  /// No longer watched.
  [[nodiscard]] io::OwnedFd into_fd() && noexcept { return std::move(io_).into_fd(); }

  /// Throws std::system_error.
  [[nodiscard]] PeerCred peer_cred() const;
};

}  // namespace rouse::net

namespace rouse::io {
template <>
inline constexpr bool concurrent_halves<net::UnixStream> = true;
}  // namespace rouse::io
