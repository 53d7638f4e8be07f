#include "http/client_connection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "rouse/future/poll_fn.hpp"
#include "rouse/http/client_error.hpp"
#include "rouse/http/error.hpp"
#include "rouse/io/error.hpp"

#include "http/text.hpp"
#include "http/write_head.hpp"

namespace rouse::http {
namespace {

constexpr std::size_t buffer_size = std::size_t{8} * 1024;
constexpr std::size_t chunk_size = std::size_t{16} * 1024;
/// Answers that say that the answer is still to come.
constexpr unsigned most_informational = 32;

std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

}  // namespace

ClientConnection::ClientConnection(io::AnyConnection stream)
    : stream_(std::move(stream)), parser_(Parser::Kind::responses), buffer_(buffer_size) {}

void ClientConnection::begin(RefPtr<Outgoing> request) {
  if (is_whole()) parser_.next();
  idle_limit_ = time::Nanoseconds::max();
  reason_ = {};
  sent_ = Result<void>();
  is_sent_ = has_written_ = has_read_body_ = is_body_bad_ = has_answer_begun_ = keeps_alive_ =
      false;
  sending_.reset();
  sending_.emplace(send(std::move(request)));
}

AsyncResult<void> ClientConnection::exchange(RefPtr<Outgoing> request) {
  const Method method = request->method;
  begin(std::move(request));
  auto receiving = receive_head(method);
  const auto both = [&](Context& cx) -> Poll<Result<void>> {
    if (!poll_send(cx)) return Poll<Result<void>>::ready(sent_);
    return receiving.poll_result(cx);
  };
  const Result<void> received = co_await poll_fn(both);
  // Who could not write and reads nothing either is told why it could not write.
  if (!received && !sent_ && !has_answer_begun_) co_return sent_;
  co_return received;
}

bool ClientConnection::poll_send(Context& cx) {
  if (!sending_) return true;
  const auto polled = (*sending_).poll_result(cx);
  if (polled.is_pending()) return true;
  sending_.reset();
  sent_ = polled.value();
  is_sent_ = sent_.has_value();
  return !is_body_bad_;
}

AsyncResult<void> ClientConnection::send(RefPtr<Outgoing> request) {
  const std::optional<std::string_view> in_memory = request->body.in_memory();
  Framing framing;
  framing.content_length = request->body.length();
  framing.is_chunked = !framing.content_length;
  const bool may_say_nothing = request->method == Method::get || request->method == Method::head ||
                               request->method == Method::delete_ ||
                               request->method == Method::options;
  if (framing.content_length == 0U && may_say_nothing) framing.content_length.reset();
  std::string head;
  write_request_head(head, request->method, request->target, request->host, request->headers,
                     framing);
  if (!in_memory) {
    co_return co_await send_stream(std::move(head), request->body, framing.is_chunked).result();
  }
  const auto written = co_await write(head, *in_memory).result();
  if (!written) co_return written;
  co_return co_await stream_.flush().result();
}

AsyncResult<void> ClientConnection::send_stream(std::string head, Body& body, bool is_chunked) {
  std::optional<std::uint64_t> left = body.length();
  std::vector<std::byte> chunk(chunk_size);
  for (bool is_end = false; !is_end;) {
    std::span<std::byte> room(chunk);
    if (left)
      room = room.first(static_cast<std::size_t>(std::min<std::uint64_t>(*left, chunk_size)));
    std::size_t n = 0;
    if (!room.empty()) {
      const auto read = co_await body.read(room).result();
      has_read_body_ = true;
      is_body_bad_ = !read || (left && *read == 0);
      if (!read) co_return read.error();
      if (is_body_bad_) co_return Error::wrong_length;
      n = *read;
    }
    if (left) *left -= n;
    is_end = left ? *left == 0 : n == 0;
    if (is_chunked) write_chunk_size(head, n);
    head.append(reinterpret_cast<const char*>(chunk.data()), n);
    if (is_chunked) head += "\r\n";
    const auto written = co_await write(head, {}).result();
    if (!written) co_return written;
    head.clear();
  }
  co_return co_await stream_.flush().result();
}

AsyncResult<void> ClientConnection::write(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    const std::array<io::Buffer, 2> both{io::Buffer(bytes_of(first)), io::Buffer(bytes_of(second))};
    const std::span<const io::Buffer> bufs(both);
    const auto written = co_await stream_.writev(bufs).result();
    if (!written) co_return written.error();
    if (*written == 0) co_return io::Error::write_zero;
    has_written_ = true;
    const std::size_t of_first = std::min(*written, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(*written - of_first);
  }
  co_return Result<void>();
}

AsyncResult<void> ClientConnection::receive_head(Method method) {
  for (unsigned count = 0; count < most_informational; ++count) {
    if (method == Method::head) parser_.expect_no_body();
    const auto received = co_await receive_one_head().result();
    if (!received) co_return received;
    const Status status = head().status;
    if (status == Status::switching_protocols) co_return ClientError::unexpected_upgrade;
    if (!is_informational(status)) {
      read_keep_alive();
      co_return Result<void>();
    }
    parser_.next();
  }
  reason_ = "too many answers that the answer is still to come";
  co_return Error::bad_message;
}

AsyncResult<void> ClientConnection::receive_one_head() {
  for (;;) {
    begin_ += parser_.parse_head(unread());
    if (parser_.stage() == Parser::Stage::failed) co_return why_refused();
    if (parser_.stage() != Parser::Stage::head) co_return Result<void>();
    begin_ = end_ = 0;
    const std::span<std::byte> room(buffer_);
    const auto read = co_await stream_.read(room).result();
    if (!read) co_return read.error();
    if (*read == 0) co_return io::Error::unexpected_eof;
    end_ = *read;
    has_answer_begun_ = true;
  }
}

std::error_code ClientConnection::why_refused() {
  if (is_cut_off_) return io::Error::unexpected_eof;
  reason_ = parser_.refusal().reason;
  if (parser_.refusal().status == Status::header_fields_too_large) return Error::head_too_long;
  return Error::bad_message;
}

/// A server that closes after so many seconds does it while the next request is on its way.
void ClientConnection::read_keep_alive() {
  keeps_alive_ = head().keeps_alive;
  const auto field = head().headers.get("Keep-Alive");
  if (!field) return;
  for (std::string_view list = *field; !list.empty();) {
    const std::string_view member = take_member(list);
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trim(member.substr(equals + 1));
    if (!are_same_name(trim(member.substr(0, equals)), "timeout")) continue;
    std::uint32_t seconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (error != std::errc()) continue;
    idle_limit_ = std::chrono::seconds(seconds == 0 ? 0 : seconds - 1);
  }
}

Poll<Result<std::size_t>> ClientConnection::poll_body(Context& cx, std::span<std::byte> buf) {
  using Ready = Poll<Result<std::size_t>>;
  if (buf.empty()) return Ready::ready(std::size_t{0});
  if (!poll_send(cx)) return Ready::ready(sent_.error());
  for (;;) {
    if (is_whole()) return Ready::ready(std::size_t{0});
    if (parser_.stage() == Parser::Stage::failed) return Ready::ready(why_refused());
    if (begin_ != end_) {
      const Parser::Taken taken = parser_.parse_body(unread(), buf);
      begin_ += taken.used;
      if (taken.given != 0) return Ready::ready(taken.given);
      continue;
    }
    // Into the buffer of the reader at once, unless the frames of small chunks are to fit in it.
    const bool is_direct = buf.size() >= buffer_.size() / 2;
    const std::span<std::byte> room = is_direct ? buf : std::span(buffer_);
    const Ready polled = stream_.poll_read(cx, room);
    if (polled.is_pending() || !polled.value()) return polled;
    const std::size_t n = *polled.value();
    if (n == 0) {
      parser_.end_of_input();
      is_cut_off_ = !is_whole();
      keeps_alive_ = false;
      continue;
    }
    if (!is_direct) {
      begin_ = 0;
      end_ = n;
      continue;
    }
    const Parser::Taken taken = parser_.parse_body(room.first(n), room.first(n));
    has_excess_ = taken.used != n;
    if (taken.given != 0) return Ready::ready(taken.given);
  }
}

void ClientConnection::skip_buffered() {
  std::array<std::byte, 1024> thrown_away;
  while (begin_ != end_ && parser_.stage() == Parser::Stage::body) {
    begin_ += parser_.parse_body(unread(), thrown_away).used;
  }
}

bool ClientConnection::is_between_requests() const noexcept {
  return is_whole() && is_sent_ && keeps_alive_ && !has_excess_ && begin_ == end_;
}

bool ClientConnection::is_quiet() {
  Context cx(Waker::noop());
  return stream_.poll_read(cx, std::span(buffer_).first(1)).is_pending();
}

}  // namespace rouse::http
