// TcpStream::connect: happy eyeballs over all addresses of a host (RFC 8305).
#include "net/connect.hpp"

#include <iterator>
#include <list>
#include <optional>
#include <vector>

#include "rouse/base/internal/durations.hpp"
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

/// Polls to the first connection; to the error of the first address when all have failed.
class Race {
 public:
  using Output = Result<TcpStream>;

  explicit Race(std::vector<SocketAddr> addresses) noexcept : addresses_(std::move(addresses)) {}

  Poll<Result<TcpStream>> poll(Context& cx) {
    using Ready = Poll<Result<TcpStream>>;
    for (;;) {
      if (next_ < addresses_.size() && (newest_failed_ || has_waited(cx))) begin_next();
      for (auto attempt = attempts_.begin(); attempt != attempts_.end();) {
        auto polled = attempt->connecting.poll_result(cx);
        if (polled.is_ready() && polled.value()) return polled;
        if (polled.is_ready()) note_error(attempt->address, polled.value().error());
        attempt = polled.is_ready() ? attempts_.erase(attempt) : std::next(attempt);
      }
      if (newest_failed_ && next_ < addresses_.size()) continue;
      if (attempts_.empty()) return Ready::ready(Result<TcpStream>(error_));
      if (next_ == addresses_.size() || !has_waited(cx)) return pending;
    }
  }

 private:
  struct Begun {
    std::size_t address;  // which one
    AsyncResult<TcpStream> connecting;
  };

  bool has_waited(Context& cx) { return delay_ && delay_->poll(cx).is_ready(); }
  void begin_next() {
    attempts_.push_back({next_, connect_to(addresses_[next_])});
    ++next_;
    delay_.emplace(sleep(attempt_delay));
    newest_failed_ = false;
  }
  void note_error(std::size_t address, std::error_code error) noexcept {
    if (address == 0) error_ = error;
    if (address + 1 == next_) newest_failed_ = true;
  }

  const std::vector<SocketAddr> addresses_;
  std::size_t next_ = 0;
  bool newest_failed_ = true;  // or there was none yet: the next one need not wait
  std::list<Begun> attempts_;  // do not move once they are polled
  std::optional<Sleep> delay_;
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
