#include "rouse/net/unix_stream.hpp"

#include <algorithm>

#include "rouse/base/internal/durations.hpp"
#include "rouse/time/sleep.hpp"

#include "net/native_address.hpp"
#include "net/socket.hpp"
#include "net/unix_address.hpp"
#include "sys/fd.hpp"

namespace rouse::net {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds longest_pause(50);

}  // namespace

AsyncResult<UnixStream> UnixStream::connect(Endpoint endpoint) {
  const Result<SocketAddr> address = understand_unix(endpoint);
  if (!address) co_return address.error();
  Result<io::OwnedFd> fd = sys::open_socket(native_family(*address), sys::SocketKind::stream);
  if (!fd) co_return fd.error();
  for (milliseconds pause(1);; pause = std::min(2 * pause, longest_pause)) {
    const Result<bool> connected = sys::connect(fd->get(), to_native(*address));
    if (connected) co_return from_fd(*std::move(fd));
    if (!io::would_block(connected.error())) co_return connected.error();
    co_await sleep(pause);  // nothing tells when there is room again
  }
}

std::pair<UnixStream, UnixStream> UnixStream::pair() {
  auto [one, other] = sys::socket_pair(sys::SocketKind::stream).value();
  return {from_fd(std::move(one)).value(), from_fd(std::move(other)).value()};
}

Result<UnixStream> UnixStream::from_fd(io::OwnedFd fd) noexcept {
  if (const Result<void> set = sys::set_nonblocking(fd.get(), true); !set) return set.error();
  return io::AsyncFd::own(std::move(fd)).map([](io::AsyncFd io) {
    return UnixStream(std::move(io));
  });
}

PeerCred UnixStream::peer_cred() const {
  const sys::PeerCredentials peer = sys::peer_credentials(fd()).value();
  return PeerCred(peer.pid, peer.uid, peer.gid);
}

}  // namespace rouse::net
