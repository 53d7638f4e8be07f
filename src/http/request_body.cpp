#include "http/request_body.hpp"

#include "rouse/http/error.hpp"

#include "http/connection.hpp"

namespace rouse::http {

RequestBody::RequestBody(Connection& connection) noexcept : connection_(&connection) {
  connection.set_body(this);
}

RequestBody::~RequestBody() {
  if (connection_) connection_->set_body(nullptr);
}

Poll<Result<std::size_t>> RequestBody::poll_read(Context& cx, std::span<std::byte> buf) {
  if (!connection_) return Poll<Result<std::size_t>>::ready(Error::exchange_over);
  return connection_->poll_body(cx, buf);
}

std::optional<std::uint64_t> RequestBody::length() const noexcept {
  return connection_ ? connection_->body_left() : std::nullopt;
}

}  // namespace rouse::http
