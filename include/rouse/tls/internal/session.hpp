// TlsSession: a TLS connection without its stream. It is given the bytes that came, gives the bytes
// that are to be sent, and makes no system call. What drives it over a stream is below, as
// templates.
//
// What is to be sent is taken whole: a `write` has encrypted its bytes, or has taken none. So a
// write that was dropped may be followed by any other. A reader never sends and a writer never
// reads, since each would take the other's place with the stream.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/error.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::internal {

class TlsState;

class ROUSE_API TlsSession {
 public:
  explicit TlsSession(TlsState* owned) noexcept : state_(owned) {}
  TlsSession(TlsSession&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  TlsSession& operator=(TlsSession other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~TlsSession();

  // What came from the peer.
  /// Where the next bytes go. Valid until `received` or `nothing_received`.
  [[nodiscard]] std::span<std::byte> room();
  /// So many bytes came; none: the end.
  void received(std::size_t n) noexcept;
  /// Gives memory back that nothing is in.
  void nothing_received() noexcept;
  /// Whether there are bytes that were not read yet.
  [[nodiscard]] bool has_input() const noexcept;

  // What goes to the peer.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  void sent(std::size_t n) noexcept;
  /// So much is to be sent that no more is taken.
  [[nodiscard]] bool is_full() const noexcept;
  /// The stream failed when bytes that had been taken were to be sent.
  void fail_sending(std::error_code error) noexcept;
  /// Whether it did so.
  [[nodiscard]] Result<void> check_sending() const noexcept;

  /// Pending: what the peer says next is needed.
  Poll<Result<void>> handshake();
  /// After it: whether what is to be sent may stay here until the next write.
  [[nodiscard]] bool may_send_later() const noexcept;
  [[nodiscard]] time::Nanoseconds handshake_timeout() const noexcept;
  /// As std::system_error, with everything that is known about it.
  [[noreturn]] void throw_failure(std::error_code error) const;

  /// Pending: more of what the peer sends is needed. 0: the peer has said that it sends no more.
  Poll<Result<std::size_t>> read(std::span<std::byte> buf);
  /// Takes at least one byte. Pending: a message of the peer has to be read to its end before.
  Poll<Result<std::size_t>> write(std::span<const io::Buffer> bufs);
  /// Wakes a writer when it need not wait for the reader any more.
  void wait_for_reader(const Context& cx);
  /// Tells the peer that nothing else comes.
  void close() noexcept;

  [[nodiscard]] const TlsState& state() const noexcept { return checked(); }

  /// Sends what there is to be sent.
  template <class S>
  Poll<Result<void>> poll_send(Context& cx, S& stream) {
    for (std::span<const std::byte> data = outgoing(); !data.empty(); data = outgoing()) {
      const Poll<Result<std::size_t>> polled = stream.poll_write(cx, data);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(io::Error::write_zero);
      ROUSE_ASSERT(*n <= data.size(), "poll_write says it took more than there was");
      sent(*n);
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// Ready when something came, or the end.
  template <class S>
  Poll<Result<void>> poll_receive(Context& cx, S& stream) {
    const Poll<Result<std::size_t>> polled = stream.poll_read(cx, room());
    if (polled.is_pending() || !polled.value()) {
      nothing_received();
      if (polled.is_pending()) return pending;
      return Poll<Result<void>>::ready(polled.value().error());
    }
    received(*polled.value());
    return Poll<Result<void>>::ready(Result<void>());
  }

 private:
  TlsState& checked() const noexcept {
    ROUSE_ASSERT(state_, "use of a tls::Stream that was moved from: use the one it went to");
    return *state_;
  }

  TlsState* state_;
};

}  // namespace rouse::internal
