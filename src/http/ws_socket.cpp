#include "rouse/http/ws_socket.hpp"

#include "rouse/base/assert.hpp"

#include "http/ws_connection.hpp"

namespace rouse::http::ws {
namespace {

Connection& checked(const RefPtr<Connection>& connection) noexcept {
  ROUSE_ASSERT(connection, "use of a WebSocket that was moved from: use the one it went to");
  return *connection;
}

}  // namespace

Poll<Result<std::optional<Message>>> Recv::poll_result(Context& cx) {
  return connection_->poll_recv(cx);
}

Poll<Result<void>> Send::poll_result(Context& cx) {
  return connection_->poll_send(cx, message_, waits_since_);
}

Poll<Result<void>> Closing::poll_result(Context& cx) {
  const bool is_valid = is_sendable(close_.code) && close_.reason.size() <= longest_reason &&
                        is_utf8(std::as_bytes(std::span(close_.reason)));
  if (!is_valid) return Poll<Result<void>>::ready(std::errc::invalid_argument);
  return connection_->poll_close(cx, close_);
}

Receiver::Receiver(RefPtr<Connection> connection) noexcept : connection_(std::move(connection)) {}
Receiver::Receiver(Receiver&& other) noexcept = default;
Receiver& Receiver::operator=(Receiver&& other) noexcept = default;
Receiver::~Receiver() = default;

Recv Receiver::recv() noexcept { return Recv(checked(connection_)); }
const Close& Receiver::peer_close() const noexcept { return checked(connection_).peer_close(); }

Sender::Sender(RefPtr<Connection> connection) noexcept : connection_(std::move(connection)) {}
Sender::Sender(Sender&& other) noexcept = default;
Sender& Sender::operator=(Sender&& other) noexcept = default;
Sender::~Sender() = default;

Send Sender::send(Message message) noexcept {
  return Send(checked(connection_), std::move(message));
}
Closing Sender::close(CloseCode code, std::string_view reason) {
  return Closing(checked(connection_), Close(code, std::string(reason)));
}

Socket::Socket(RefPtr<Connection> connection) noexcept : connection_(std::move(connection)) {}
Socket::Socket(Socket&& other) noexcept = default;
Socket& Socket::operator=(Socket&& other) noexcept = default;
Socket::~Socket() = default;

Recv Socket::recv() noexcept { return Recv(checked(connection_)); }
Send Socket::send(Message message) noexcept {
  return Send(checked(connection_), std::move(message));
}
Closing Socket::close(CloseCode code, std::string_view reason) {
  return Closing(checked(connection_), Close(code, std::string(reason)));
}
const Close& Socket::peer_close() const noexcept { return checked(connection_).peer_close(); }
const std::string& Socket::protocol() const noexcept { return checked(connection_).protocol(); }

std::pair<Receiver, Sender> Socket::split() && {
  checked(connection_);
  Receiver receiver(connection_);
  return std::pair<Receiver, Sender>(std::move(receiver), Sender(std::move(connection_)));
}

}  // namespace rouse::http::ws
