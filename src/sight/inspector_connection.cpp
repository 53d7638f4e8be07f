#include "sight/inspector_connection.hpp"

#include <span>
#include <utility>

#include "sys/fd.hpp"
#include "sys/socket.hpp"

namespace rouse::sight {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t time_for_request = 5 * second;
/// An answer has the same, and a little more for each byte: 256 KiB a second are enough.
constexpr std::uint64_t time_for_byte = second / (std::uint64_t{256} << 10);
constexpr std::uint64_t time_to_drain = second;

}  // namespace

void InspectorConnection::begin(io::OwnedFd fd, const Token* token, std::uint64_t now) noexcept {
  fd_ = std::move(fd);
  token_ = token;
  state_ = State::reads;
  deadline_ = now + time_for_request;
  received_ = 0;
}

bool InspectorConnection::go_on(BodyRoom& room, Clock clock) noexcept {
  if (clock() >= deadline_) return false;
  // Each falls through to the next once it is done.
  if (state_ == State::reads && !read(room, clock)) return false;
  if (state_ == State::writes && !write(clock)) return false;
  return state_ != State::drains || drain();
}

bool InspectorConnection::read(BodyRoom& room, Clock clock) noexcept {
  for (;;) {
    const std::span<char> free = std::span(request_).subspan(received_);
    const Result<std::size_t> got = sys::receive(fd_.get(), std::as_writable_bytes(free));
    if (!got) return sys::would_block(got.error());
    if (*got == 0) return false;
    received_ += *got;
    std::optional<HttpHead> head = parse_http_head({request_, received_});
    if (!head) continue;
    if (token_ != nullptr && head->status == HttpStatus::ok) {
      head->status = judge(head->request, *token_);
    }
    answer_.make(*head, room);
    left_[0] = answer_.head();
    left_[1] = answer_.body();
    state_ = State::writes;
    // From now: a dump of a program with much to do takes its time, which is not the reader's.
    deadline_ = clock() + time_for_request + left_[1].size() * time_for_byte;
    return true;
  }
}

bool InspectorConnection::write(Clock clock) noexcept {
  for (std::string_view& part : left_) {
    while (!part.empty()) {
      const Result<std::size_t> sent = sys::send(fd_.get(), std::as_bytes(std::span(part)));
      if (!sent) return sys::would_block(sent.error());
      part.remove_prefix(*sent);
    }
  }
  answer_.release();
  if (!sys::shutdown_write(fd_.get())) return false;
  state_ = State::drains;
  deadline_ = clock() + time_to_drain;
  return true;
}

/// Waits until the client has closed: to close before, with bytes of it unread, would make the
/// system throw away what of the answer is still under way. More than so much it does not send.
bool InspectorConnection::drain() noexcept {
  constexpr int most_reads = 16;
  for (int i = 0; i < most_reads; ++i) {
    const Result<std::size_t> got =
        sys::receive(fd_.get(), std::as_writable_bytes(std::span(request_)));
    if (!got) return sys::would_block(got.error());
    if (*got == 0) return false;
  }
  return false;
}

/// Also a forked child may have the descriptor: so the client is told.
void InspectorConnection::end() noexcept {
  answer_.release();
  (void)sys::shutdown_write(fd_.get());
  fd_ = io::OwnedFd();
}

}  // namespace rouse::sight
