// ws::Socket: one end of a WebSocket, of a server or of a client.
//
//   rouse::Async<void> echo(ws::Socket peer) {
//     while (auto message = co_await peer.recv()) co_await peer.send(*std::move(message));
//   }
//
// Nothing runs beside the calls: while somebody waits in `recv`, pings are answered and sent, and a
// dead peer is found. So keep a `recv` waiting, in a task of its own if need be: see `split`.
//
// Back-pressure goes both ways: a message is read when `recv` asks for it, and `send` completes
// when the stream took all of its message. A Socket that is dropped is cut off: the peer sees no
// close. (http::upgrade closes it after its handler.)
// Threads: `recv` and `send` may be used at the same time by two tasks on any two threads, each by
// one task at a time; `close` counts as `send`. All need a runtime.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/http/ws_error.hpp"
#include "rouse/http/ws_message.hpp"
#include "rouse/time/instant.hpp"

namespace rouse::http::ws {

class Connection;

/// What Socket::recv returns.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Recv
    : public ResultFuture<Recv, std::optional<Message>> {
 public:
  explicit Recv(Connection& connection) noexcept : connection_(&connection) {}

  ROUSE_API Poll<Result<std::optional<Message>>> poll_result(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Recv, "WebSocket recv", blocking)

 private:
  Connection* connection_;
};

/// What Socket::send returns.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Send
    : public ResultFuture<Send, void> {
 public:
  Send(Connection& connection, Message message) noexcept
      : connection_(&connection), message_(std::move(message)) {}

  ROUSE_API Poll<Result<void>> poll_result(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Send, "WebSocket send", blocking)

 private:
  Connection* connection_;
  std::optional<Message> message_;  // until it is begun
  std::optional<time::Instant> waits_since_;
};

/// What Socket::close returns.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Closing
    : public ResultFuture<Closing, void> {
 public:
  Closing(Connection& connection, Close close) noexcept
      : connection_(&connection), close_(std::move(close)) {}

  ROUSE_API Poll<Result<void>> poll_result(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Closing, "WebSocket close", blocking)

 private:
  Connection* connection_;
  Close close_;
};

/// The part of a Socket that receives.
class ROUSE_API Receiver {
 public:
  /// For the library.
  explicit Receiver(RefPtr<Connection> connection) noexcept;
  Receiver(Receiver&& other) noexcept;
  Receiver& operator=(Receiver&& other) noexcept;
  ~Receiver();

  /// As Socket::recv.
  [[nodiscard]] Recv recv() noexcept ROUSE_LIFETIMEBOUND;
  /// As Socket::peer_close.
  [[nodiscard]] const Close& peer_close() const noexcept ROUSE_LIFETIMEBOUND;

 private:
  RefPtr<Connection> connection_;
};

/// The part of a Socket that sends and closes.
class ROUSE_API Sender {
 public:
  /// For the library.
  explicit Sender(RefPtr<Connection> connection) noexcept;
  Sender(Sender&& other) noexcept;
  Sender& operator=(Sender&& other) noexcept;
  ~Sender();

  /// As Socket::send.
  [[nodiscard]] Send send(Message message) noexcept ROUSE_LIFETIMEBOUND;
  /// As Socket::close.
  [[nodiscard]] Closing close(CloseCode code = CloseCode::normal,
                              std::string_view reason = {}) ROUSE_LIFETIMEBOUND;

 private:
  RefPtr<Connection> connection_;
};

/// See above.
class ROUSE_API Socket {
 public:
  /// For the library.
  explicit Socket(RefPtr<Connection> connection) noexcept;
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  /// Completes with the next message; with nothing when the connection was closed, by either side,
  /// and the closing handshake is done.
  /// Cancel safety: dropping it loses nothing.
  /// Errors: Error::bad_frame, bad_text and message_too_long, after the peer was told;
  /// Error::no_answer; io::Error::unexpected_eof if the stream ended without a close; the stream's.
  /// All are final: every later call gives the same.
  [[nodiscard]] Recv recv() noexcept ROUSE_LIFETIMEBOUND;

  /// Completes when the stream has taken all of the message.
  /// Cancel safety: sent whole or not at all: one that was begun is finished by the next call of
  /// `send`, `recv` or `close`, before anything else is sent.
  /// Errors: Error::closed; Error::bad_text for a text that is not UTF-8: nothing was sent;
  /// Error::no_answer; the stream's.
  [[nodiscard]] Send send(Message message) noexcept ROUSE_LIFETIMEBOUND;

  /// Closes, and completes when the peer has answered. Messages that still come are thrown away; a
  /// `recv` of another task ends with nothing, too. Does no harm to one that is closed already.
  /// Cancel safety: the close is sent once it was polled; polling `recv` to its end awaits the
  /// answer, too.
  /// Errors: std::errc::invalid_argument for a code that must not be sent, or a reason that is not
  /// UTF-8 or longer than 123 bytes: nothing was sent; else those of `recv`.
  [[nodiscard]] Closing close(CloseCode code = CloseCode::normal,
                              std::string_view reason = {}) ROUSE_LIFETIMEBOUND;

  /// What the peer said when it closed. After `recv` gave nothing.
  [[nodiscard]] const Close& peer_close() const noexcept ROUSE_LIFETIMEBOUND;
  /// The subprotocol that was agreed on; empty if none.
  [[nodiscard]] const std::string& protocol() const noexcept ROUSE_LIFETIMEBOUND;

  /// Two parts, for two tasks. The connection lives as long as one of them.
  [[nodiscard]] std::pair<Receiver, Sender> split() &&;

 private:
  RefPtr<Connection> connection_;
};

}  // namespace rouse::http::ws
