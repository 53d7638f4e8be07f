#include "http/ws_protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "rouse/base/assert.hpp"

namespace rouse::http::ws {
namespace {

constexpr std::size_t input_size = std::size_t{8} * 1024;
constexpr std::size_t kept_output = std::size_t{64} * 1024;

CloseCode code_of(Error error) noexcept {
  if (error == Error::bad_text) return CloseCode::bad_text;
  if (error == Error::message_too_long) return CloseCode::too_long;
  return CloseCode::protocol_error;
}

std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

}  // namespace

bool is_sendable(CloseCode code) noexcept {
  const auto number = static_cast<unsigned>(code);
  if (number >= 3000 && number <= 4999) return true;
  return number >= 1000 && number <= 1014 && number != 1004 && number != 1005 && number != 1006;
}

Protocol::Protocol(Role role, std::size_t max_message)
    : role_(role), max_message_(max_message), input_(input_size) {}

std::span<std::byte> Protocol::room() {
  ROUSE_ASSERT(unread_.empty(), "room for more bytes while some are unread: call next first");
  return input_;
}

void Protocol::filled(std::size_t n) noexcept {
  ROUSE_ASSERT(n <= input_.size(), "poll_read says it read more than the buffer holds");
  unread_ = std::span<const std::byte>(input_).first(n);
}

Protocol::Event Protocol::next() {
  if (failure_) return Event::failed;
  if (is_over_) return Event::closed;
  for (;;) {
    FramePiece piece;
    const Frames::Read read = frames_.read(unread_, piece);
    if (read == Frames::Read::nothing) return Event::none;
    if (read == Frames::Read::malformed) return fail(Error::bad_frame);
    if (const Event event = take_piece(piece); event != Event::none) return event;
  }
}

Protocol::Event Protocol::take_piece(const FramePiece& piece) {
  if (!in_frame_) {
    if (const auto error = begin_frame(piece)) return fail(*error);
  }
  const std::string_view text(reinterpret_cast<const char*>(piece.bytes.data()),
                              piece.bytes.size());
  if (is_control(opcode_)) {
    control_ += text;
  } else {
    if (is_text_ && !utf8_.take(piece.bytes)) return fail(Error::bad_text);
    message_ += text;
  }
  left_ -= piece.bytes.size();
  if (left_ != 0) return Event::none;
  in_frame_ = false;
  return end_frame();
}

std::optional<Error> Protocol::begin_frame(const FramePiece& piece) noexcept {
  if (piece.reserved != 0 || piece.is_masked != (role_ == Role::server)) return Error::bad_frame;
  in_frame_ = true;
  is_final_ = piece.is_final;
  opcode_ = piece.opcode;
  left_ = piece.size;
  switch (piece.opcode) {
    case Opcode::close:
    case Opcode::ping:
    case Opcode::pong:
      control_.clear();
      return std::nullopt;
    case Opcode::continuation:
      if (!in_message_) return Error::bad_frame;
      break;
    case Opcode::text:
    case Opcode::binary:
      if (in_message_) return Error::bad_frame;
      in_message_ = true;
      is_text_ = piece.opcode == Opcode::text;
      utf8_ = Utf8();
      message_.clear();
      break;
    default:
      return Error::bad_frame;
  }
  if (piece.size > max_message_ - message_.size()) return Error::message_too_long;
  return std::nullopt;
}

Protocol::Event Protocol::end_frame() {
  if (is_control(opcode_)) return end_control();
  if (!is_final_) return Event::none;
  if (is_text_ && !utf8_.is_whole()) return fail(Error::bad_text);
  in_message_ = false;
  return Event::message;
}

Message Protocol::take_message() noexcept {
  std::string data = std::exchange(message_, std::string());
  return is_text_ ? Message(std::move(data)) : Message::binary(std::move(data));
}

Protocol::Event Protocol::end_control() {
  if (opcode_ == Opcode::close) return end_close();
  if (opcode_ == Opcode::ping && !has_sent_close_) pong_ = control_;
  return Event::none;
}

Protocol::Event Protocol::end_close() {
  if (!control_.empty()) {
    if (control_.size() == 1) return fail(Error::bad_frame);
    const auto high = static_cast<unsigned char>(control_[0]);
    const auto low = static_cast<unsigned char>(control_[1]);
    const auto code = static_cast<CloseCode>(high * 256 + low);
    if (!is_sendable(code)) return fail(Error::bad_frame);
    const std::string_view reason = std::string_view(control_).substr(2);
    if (!is_utf8(bytes_of(reason))) return fail(Error::bad_text);
    peer_close_ = Close(code, std::string(reason));
  }
  // The answer repeats the code.
  write_close(bytes_of(control_).first(std::min<std::size_t>(control_.size(), 2)));
  is_over_ = true;
  return Event::closed;
}

Protocol::Event Protocol::fail(Error error) {
  close(code_of(error), {});
  failure_ = error;
  return Event::failed;
}

void Protocol::send(const Message& message) {
  ROUSE_ASSERT(!has_sent_close_, "a message behind a close");
  write(message.is_text() ? Opcode::text : Opcode::binary, message.bytes());
}

void Protocol::ping() {
  if (!has_sent_close_) write(Opcode::ping, {});
}

void Protocol::close(CloseCode code, std::string_view reason) {
  std::array<std::byte, 2 + longest_reason> payload{};
  ROUSE_ASSERT(reason.size() <= longest_reason, "the reason of a close is too long");
  payload[0] = static_cast<std::byte>(static_cast<unsigned>(code) >> 8U);
  payload[1] = static_cast<std::byte>(code);
  std::ranges::copy(bytes_of(reason), payload.begin() + 2);
  write_close(std::span<const std::byte>(payload).first(2 + reason.size()));
}

void Protocol::write_close(std::span<const std::byte> payload) {
  if (has_sent_close_) return;
  write(Opcode::close, payload);
  has_sent_close_ = true;
  pong_.reset();
}

std::span<const std::byte> Protocol::output() {
  if (pong_ && output_size() < kept_output) {
    write(Opcode::pong, bytes_of(*pong_));
    pong_.reset();
  }
  return bytes_of(output_).subspan(written_);
}

void Protocol::written(std::size_t n) noexcept {
  ROUSE_ASSERT(n <= output_size(), "poll_write says it took more than there was");
  written_ += n;
  if (output_size() != 0) return;
  written_ = 0;
  if (output_.capacity() > kept_output) {
    output_ = std::string();
  } else {
    output_.clear();
  }
}

void Protocol::write(Opcode opcode, std::span<const std::byte> payload) {
  if (written_ != 0 && written_ >= output_size()) {
    output_.erase(0, written_);
    written_ = 0;
  }
  frames_.write(output_, opcode, payload, role_ == Role::client);
}

}  // namespace rouse::http::ws
