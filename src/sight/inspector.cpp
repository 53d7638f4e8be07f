#include "sight/inspector.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "sight/value_or_throw.hpp"
#include "sys/address.hpp"
#include "sys/process_fork.hpp"
#include "sys/self.hpp"
#include "sys/socket.hpp"

namespace rouse::sight {
namespace {

constexpr std::uint32_t local_key = 0;
constexpr std::uint32_t port_key = 1;
constexpr std::uint32_t first_connection = 2;
constexpr std::uint64_t accept_pause = 100'000'000;
constexpr int most_accepted_at_once = 2 * Inspector::most_connections;

void must(const Result<void>& done) {
  if (!done) throw std::system_error(done.error(), "sight::start");
}

/// The mode of the socket's file keeps others out already, unless somebody has changed it.
bool is_of_this_user(int fd) noexcept {
  const Result<sys::PeerCredentials> peer = sys::peer_credentials(fd);
  return peer && (peer->uid == sys::user() || peer->uid == 0);
}

}  // namespace

Inspector::Inspector(const Options& options, Watch watch, Clock clock)
    : process_forks_before_(sys::process_forks()), watch_(watch), clock_(clock) {
  if (options.socket_path()) {
    local_.emplace(*options.socket_path());
    watch_listener(local_->fd(), local_key);
  }
  if (options.tcp_port()) open_port(*options.tcp_port());
}

/// In a forked child the connections are the parent's, which goes on with them.
Inspector::~Inspector() {
  if (sys::process_forks() != process_forks_before_) return;
  for (InspectorConnection& each : connections_) {
    if (!each.is_free()) end(each);
  }
  if (local_) watch_.remove(local_->fd());
  if (port_) watch_.remove(port_->fd());
}

void Inspector::open_port(std::uint16_t port) {
  const sys::NativeAddress wanted = sys::loopback_address(port);
  io::OwnedFd fd = value_or_throw(
      sys::open_socket(wanted.storage.ss_family, sys::SocketKind::stream), "sight::start");
  // After a restart the port is free at once.
  must(sys::set_option(fd.get(), sys::SocketOption::reuse_address, 1));
  must(sys::bind(fd.get(), wanted));
  must(sys::listen(fd.get(), 64));
  const sys::NativeAddress bound = value_or_throw(sys::local_address(fd.get()), "sight::start");
  token_.emplace(value_or_throw(Token::make(), "sight::start"));
  url_ = "http://127.0.0.1:" + std::to_string(sys::port_of(bound)) + "/#";
  url_ += token_->text();
  port_.emplace(std::move(fd));
  watch_listener(port_->fd(), port_key);
}

void Inspector::watch_listener(int fd, std::uint32_t key) {
  must(watch_.add(fd, key, io::Interest::readable));
}

/// An event may be of a connection that is over, and whose place another one has: that one is asked
/// in vain.
void Inspector::ready(std::uint32_t key, std::uint64_t) noexcept {
  if (key < first_connection) {
    may_accept_ = true;
    return;
  }
  InspectorConnection& connection = connections_[key - first_connection];
  if (!connection.is_free() && !connection.go_on(room_, clock_)) end(connection);
}

std::chrono::nanoseconds Inspector::look() noexcept {
  for (InspectorConnection& each : connections_) {
    if (!each.is_free() && clock_() >= each.deadline()) end(each);
  }
  accept_all();
  const std::uint64_t now = clock_();
  std::uint64_t next = may_accept_ && accept_after_ > now ? accept_after_ : UINT64_MAX;
  for (const InspectorConnection& each : connections_) {
    if (!each.is_free()) next = std::min(next, each.deadline());
  }
  if (next == UINT64_MAX) return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds(next > now ? next - now : 0);
}

/// As long as there is a place: who waits for one is accepted when another connection is over,
/// after which this is called as well. Clients that leave at once, or an error that stays, may go
/// on for ever: so there is a pause, for the other duties.
void Inspector::accept_all() noexcept {
  const auto is_free = [](const InspectorConnection& each) { return each.is_free(); };
  for (int tries = 0; may_accept_ && clock_() >= accept_after_ &&
                      std::any_of(connections_.begin(), connections_.end(), is_free);
       ++tries) {
    if (tries == most_accepted_at_once) {
      accept_after_ = clock_() + accept_pause;
      return;
    }
    if (local_ && accept(local_->fd(), nullptr)) continue;
    if (port_ && !has_place_for_port()) return;  // until one is over
    if (port_ && accept(port_->fd(), &*token_)) continue;
    may_accept_ = clock_() < accept_after_;
  }
}

bool Inspector::has_place_for_port() const noexcept {
  const auto is_of_port = [](const InspectorConnection& each) {
    return !each.is_free() && each.needs_token();
  };
  const auto count = std::count_if(connections_.begin(), connections_.end(), is_of_port);
  return static_cast<std::size_t>(count) < most_of_port;
}

/// False: nobody waits, or it must be tried again later.
bool Inspector::accept(int listener, const Token* token) noexcept {
  sys::NativeAddress peer;
  Result<io::OwnedFd> fd = sys::accept(listener, peer);
  if (!fd) {
    if (sys::is_of_one_connection(fd.error())) return true;
    if (sys::is_out_of_resources(fd.error())) accept_after_ = clock_() + accept_pause;
    return false;
  }
  if (token == nullptr && !is_of_this_user(fd->get())) return true;
  const auto place = std::find_if(connections_.begin(), connections_.end(),
                                  [](const InspectorConnection& each) { return each.is_free(); });
  const auto key = first_connection + static_cast<std::uint32_t>(place - connections_.begin());
  const int number = fd->get();
  place->begin(*std::move(fd), token, clock_());
  if (!watch_.add(number, key, io::Interest::both) || !place->go_on(room_, clock_)) end(*place);
  return true;
}

void Inspector::end(InspectorConnection& connection) noexcept {
  watch_.remove(connection.fd());
  connection.end();
}

}  // namespace rouse::sight
