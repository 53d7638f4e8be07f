// The sys seam, sockets. All are opened non-blocking and closed on exec; no call raises SIGPIPE.
// See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/owned_fd.hpp"

#include "sys/address.hpp"

namespace rouse::sys {

enum class SocketKind : std::uint8_t { stream, datagram };
/// `family`: of the address that it will have.
Result<io::OwnedFd> open_socket(int family, SocketKind kind) noexcept;
/// Two Unix sockets that are connected to each other.
Result<std::pair<io::OwnedFd, io::OwnedFd>> socket_pair(SocketKind kind) noexcept;

Result<void> bind(int fd, const NativeAddress& address) noexcept;
Result<void> listen(int fd, int backlog) noexcept;
/// Error: operation_would_block if nobody waits.
Result<io::OwnedFd> accept(int fd, NativeAddress& peer) noexcept;
/// True: connected. False: not yet, ask `connected` when the socket is writable.
Result<bool> connect(int fd, const NativeAddress& address) noexcept;
/// The outcome of a connect that was begun; operation_would_block: not known yet.
Result<void> connected(int fd) noexcept;
Result<void> shutdown_write(int fd) noexcept;

Result<std::size_t> receive(int fd, std::span<std::byte> buf) noexcept;
/// What was received stays there.
Result<std::size_t> peek(int fd, std::span<std::byte> buf) noexcept;
/// receivev and sendv use so many buffers at most; they pass over empty ones.
inline constexpr std::size_t max_buffers = 64;
Result<std::size_t> receivev(int fd, std::span<const io::BufferMut> bufs) noexcept;
Result<std::size_t> send(int fd, std::span<const std::byte> data) noexcept;
Result<std::size_t> sendv(int fd, std::span<const io::Buffer> bufs) noexcept;

Result<NativeAddress> local_address(int fd) noexcept;
Result<NativeAddress> peer_address(int fd) noexcept;

enum class SocketOption : std::uint8_t {
  reuse_address,
  reuse_port,
  nodelay,
  keepalive,
  keepalive_idle,
  keepalive_interval,
  keepalive_count,
  send_buffer,
  receive_buffer,
  broadcast,
  ttl,
  multicast_loop_v4,
  multicast_ttl_v4,
  hops_v6,
  multicast_loop_v6,
  multicast_hops_v6,
  multicast_interface_v6,
  only_v6,
  quick_ack,
  user_timeout,
  tos,
  traffic_class_v6,
  packet_info_v4,
  packet_info_v6,
  udp_gro,
  udp_segment,
};
Result<void> set_option(int fd, SocketOption option, int value) noexcept;
Result<int> get_option(int fd, SocketOption option) noexcept;
/// Nothing: close returns at once and the system sends the rest. Zero: close cuts the connection.
ROUSE_API Result<void> set_linger(int fd, std::optional<int> seconds) noexcept;
Result<std::optional<std::chrono::seconds>> get_linger(int fd) noexcept;
/// The network interface that a socket is bound to; empty: none.
Result<void> set_device(int fd, std::string_view name) noexcept;
Result<std::string> get_device(int fd);
/// AF_INET, AF_INET6 or AF_UNIX.
Result<int> family_of(int fd) noexcept;
/// Who made the other end of a Unix stream.
struct PeerCredentials {
  std::int64_t pid;
  std::uint32_t uid;
  std::uint32_t gid;
};
Result<PeerCredentials> peer_credentials(int fd) noexcept;
/// Takes the error that is stored in the socket, if any.
Result<void> take_error(int fd) noexcept;

/// Errors of accept after which another call may succeed at once: the peer is gone already.
bool is_of_one_connection(std::error_code error) noexcept;
/// Errors that go away when something is closed: too many descriptors, or no memory.
bool is_out_of_resources(std::error_code error) noexcept;

}  // namespace rouse::sys
