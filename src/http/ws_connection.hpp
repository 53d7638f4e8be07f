// Connection: what the parts of a ws::Socket share: the stream, the Protocol, and the times. Both
// sides poll it under a lock that is held for a poll only; there is no task of its own.
//
//   open --the peer closed, or broke a rule--> ending --the rest is sent, the stream ended--> over
//     '-----------the stream failed, or the peer is dead------------------------------------^
//
// Invariants:
//  - Whatever one side changes that the other waits for, it wakes the other: the output is empty,
//    a close was sent, the connection is over.
//  - Writing that fails does not end reading: what the peer said last is still received.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/http/ws_options.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/io/split.hpp"
#include "rouse/time/sleep.hpp"

#include "http/ws_protocol.hpp"
#include "http/ws_wakers.hpp"

namespace rouse::http::ws {

class Connection final : public RefCounted<Connection> {
 public:
  /// `came`: what was read of the stream behind the handshake.
  Connection(io::AnyConnection stream, Role role, const Limits& limits, std::string protocol,
             std::span<const std::byte> came = {});

  /// Of the receiver.
  Poll<Result<std::optional<Message>>> poll_recv(Context& cx);
  /// Of the sender. Takes the message once nothing is before it; from then on it is sent whole.
  Poll<Result<void>> poll_send(Context& cx, std::optional<Message>& message,
                               std::optional<time::Instant>& waits_since);
  /// Of the sender.
  Poll<Result<void>> poll_close(Context& cx, const Close& close);

  /// Of the receiver, after poll_recv gave nothing.
  [[nodiscard]] const Close& peer_close() const noexcept { return peer_close_; }
  [[nodiscard]] const std::string& protocol() const noexcept { return subprotocol_; }

 private:
  enum class Stage : std::uint8_t { open, ending, over };

  /// `poll` under the lock. What it throws ends the connection.
  template <class T, class Fn>
  Poll<Result<T>> poll_alone(Context& cx, Side side, Fn&& poll);

  Poll<Result<std::optional<Message>>> recv(Context& cx);
  Poll<Result<void>> send(Context& cx, std::optional<Message>& message,
                          std::optional<time::Instant>& waits_since);
  Poll<Result<void>> close(Context& cx, const Close& close);

  /// The next event of the open connection. Nothing: the connection has gone on to another stage.
  Poll<std::optional<Protocol::Event>> poll_event(Side side, Context& cx);
  Poll<Result<std::size_t>> poll_read(Side side, Context& cx);
  /// Ready when all is written and flushed.
  Poll<Result<void>> poll_output(Side side, Context& cx);
  Poll<Result<void>> poll_write(Context& cx);
  void begin_end(Side side, std::error_code error);
  /// Ready when the stage is over.
  Poll<> poll_end(Side side, Context& cx);
  [[nodiscard]] bool poll_linger(Side side, Context& cx);
  void finish(Side side, std::error_code error);
  /// True: something is to be done.
  [[nodiscard]] bool poll_times(Side side, Context& cx);
  [[nodiscard]] bool has_passed(Side side, Context& cx, time::Instant deadline);
  void wake_other(Side side);
  void begin_close_time();

  io::AnyConnection stream_;
  const Role role_;
  const Limits limits_;
  const std::string subprotocol_;
  internal::BiLock lock_;
  Protocol protocol_;
  Direction reading_;
  Direction writing_;
  std::array<std::optional<Sleep>, 2> timers_;  // of the sides

  Stage stage_ = Stage::open;
  std::error_code error_;        // how it is over; none: closed
  std::error_code write_error_;  // nothing can be written any more
  bool needs_flush_ = false;
  bool has_shut_down_ = false;
  time::Instant heard_at_;                   // of the peer
  time::Instant taken_at_;                   // by the stream
  std::optional<time::Instant> pinged_at_;   // not answered yet
  std::optional<time::Instant> closing_at_;  // by either side
  Close peer_close_;                         // the receiver's
};

}  // namespace rouse::http::ws
