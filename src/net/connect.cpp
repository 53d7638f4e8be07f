// TcpStream::connect: happy eyeballs over all addresses of a host (RFC 8305).
#include "net/connect.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/net/tcp_socket.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {
namespace {

/// After this time without an answer, the next address is tried too.
constexpr std::chrono::milliseconds attempt_delay(250);

AsyncResult<TcpStream> connect_to(SocketAddr address) {
  Result<TcpSocket> socket = TcpSocket::for_address(address);
  if (!socket) co_return socket.error();
  co_return co_await std::move(*socket).connect(address).result();
}

using Attempt = internal::Maybe<AsyncResult<TcpStream>>;  // nothing once it has failed

/// One for each address, beginning with the first. (In Race, its shape would not be known yet.)
struct Attempts {
  explicit Attempts(Attempt* all) noexcept : first(all) {}
  ROUSE_SHAPE_OF(Attempts, nullptr, array, sizeof(Attempt), &Attempts::first, &Attempts::begun)
  Attempt* first;
  std::size_t begun = 0;
};

/// Polls to the first connection; to the error of the first address when all have failed.
class Race {
 public:
  using Output = Result<TcpStream>;

  explicit Race(std::vector<SocketAddr> addresses)
      : addresses_(std::move(addresses)),
        memory_(std::make_unique<Attempt[]>(addresses_.size())),
        attempts_(memory_.get()) {}

  Poll<Result<TcpStream>> poll(Context& cx) {
    using Ready = Poll<Result<TcpStream>>;
    for (;;) {
      if (attempts_.begun < addresses_.size() && (newest_failed_ || has_waited(cx))) begin_next();
      bool is_connecting = false;
      for (std::size_t i = 0; i < attempts_.begun; ++i) {
        Attempt& attempt = attempts_.first[i];
        if (!attempt) continue;
        auto polled = (*attempt).poll_result(cx);
        if (polled.is_ready() && polled.value()) return polled;
        if (polled.is_pending()) {
          is_connecting = true;
          continue;
        }
        attempt.reset();
        note_error(i, polled.value().error());
      }
      if (newest_failed_ && attempts_.begun < addresses_.size()) continue;
      if (!is_connecting) return Ready::ready(Result<TcpStream>(error_));
      if (attempts_.begun == addresses_.size() || !has_waited(cx)) return pending;
    }
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Race, "connect", any_of, &Race::attempts_, &Race::delay_)

 private:
  bool has_waited(Context& cx) { return delay_ && (*delay_).poll(cx).is_ready(); }
  void begin_next() {
    attempts_.first[attempts_.begun].emplace(connect_to(addresses_[attempts_.begun]));
    ++attempts_.begun;
    delay_.reset();
    if (attempts_.begun < addresses_.size()) delay_.emplace(sleep(attempt_delay));
    newest_failed_ = false;
  }
  void note_error(std::size_t address, std::error_code error) noexcept {
    if (address == 0) error_ = error;
    if (address + 1 == attempts_.begun) newest_failed_ = true;
  }

  const std::vector<SocketAddr> addresses_;
  const std::unique_ptr<Attempt[]> memory_;
  Attempts attempts_;
  bool newest_failed_ = true;  // or there was none yet: the next one need not wait
  internal::Maybe<Sleep> delay_;
  std::error_code error_;  // the first address's
};

}  // namespace

AsyncResult<TcpStream> TcpStream::connect(Endpoint endpoint) {
  std::vector<SocketAddr> addresses = co_await lookup_host(std::move(endpoint));
  co_return co_await connect_to_first(std::move(addresses)).result();
}

AsyncResult<TcpStream> connect_to_first(std::vector<SocketAddr> addresses) {
  if (addresses.size() == 1) co_return co_await connect_to(addresses.front()).result();
  co_return co_await Race(std::move(addresses));
}

}  // namespace rouse::net
