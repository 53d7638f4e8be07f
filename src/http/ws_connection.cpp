#include "http/ws_connection.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/io/error.hpp"

namespace rouse::http::ws {
namespace {

struct BiUnlock {
  explicit BiUnlock(internal::BiLock& held) noexcept : lock(held) {}
  BiUnlock(const BiUnlock&) = delete;
  BiUnlock& operator=(const BiUnlock&) = delete;
  ~BiUnlock() { lock.unlock(); }
  internal::BiLock& lock;
};

time::Instant after(time::Instant since, std::chrono::milliseconds time) noexcept {
  return time::add(since, internal::saturate(time));
}

}  // namespace

Connection::Connection(io::AnyConnection stream, Role role, const Limits& limits,
                       std::string protocol, std::span<const std::byte> came)
    : stream_(std::move(stream)),
      role_(role),
      limits_(limits),
      subprotocol_(std::move(protocol)),
      protocol_(role, limits.max_message),
      heard_at_(time::now()),
      taken_at_(heard_at_) {
  if (came.empty()) return;
  const std::span<std::byte> room = protocol_.room();
  ROUSE_ASSERT(came.size() <= room.size(), "a handshake that read too much ahead");
  std::ranges::copy(came, room.begin());
  protocol_.filled(came.size());
}

template <class T, class Fn>
Poll<Result<T>> Connection::poll_alone(Context& cx, Side side, Fn&& poll) {
  if (!cx.take_budget() || !lock_.poll_lock(cx)) return pending;
  const BiUnlock unlocking(lock_);
  try {
    return poll();
  } catch (const std::bad_alloc&) {
    finish(side, std::make_error_code(std::errc::not_enough_memory));
  } catch (const std::system_error& error) {
    finish(side, error.code());
  }
  return Poll<Result<T>>::ready(error_);
}

Poll<Result<std::optional<Message>>> Connection::poll_recv(Context& cx) {
  return poll_alone<std::optional<Message>>(cx, Side::receiver, [&] { return recv(cx); });
}

Poll<Result<void>> Connection::poll_send(Context& cx, std::optional<Message>& message,
                                         std::optional<time::Instant>& waits_since) {
  return poll_alone<void>(cx, Side::sender, [&] { return send(cx, message, waits_since); });
}

Poll<Result<void>> Connection::poll_close(Context& cx, const Close& close) {
  return poll_alone<void>(cx, Side::sender, [&] { return this->close(cx, close); });
}

Poll<Result<std::optional<Message>>> Connection::recv(Context& cx) {
  using Received = Poll<Result<std::optional<Message>>>;
  for (;;) {
    if (stage_ == Stage::ending && poll_end(Side::receiver, cx).is_pending()) return pending;
    if (stage_ == Stage::over) {
      if (error_) return Received::ready(error_);
      peer_close_ = protocol_.peer_close();
      return Received::ready(std::optional<Message>());
    }
    const auto event = poll_event(Side::receiver, cx);
    // Pongs go out also while nobody sends; if they can't yet, that is no reason not to read.
    if (stage_ == Stage::open) static_cast<void>(poll_output(Side::receiver, cx));
    if (event.is_pending()) {
      if (!poll_times(Side::receiver, cx)) return pending;
    } else if (event.value() == Protocol::Event::message) {
      return Received::ready(std::optional<Message>(protocol_.take_message()));
    }
  }
}

Poll<Result<void>> Connection::send(Context& cx, std::optional<Message>& message,
                                    std::optional<time::Instant>& waits_since) {
  using Sent = Poll<Result<void>>;
  for (;;) {
    if (message && (stage_ != Stage::open || protocol_.is_closing())) {
      return Sent::ready(error_ ? error_ : make_error_code(Error::closed));
    }
    if (stage_ == Stage::over && protocol_.output_size() != 0) {
      return Sent::ready(error_ ? error_ : make_error_code(Error::closed));
    }
    // What was begun before goes first, whoever began it.
    const Poll<Result<void>> output = poll_output(Side::sender, cx);
    if (output.is_pending()) {
      if (!waits_since) waits_since = time::now();
      const time::Instant since = std::max(*waits_since, taken_at_);
      if (!has_passed(Side::sender, cx, after(since, limits_.progress_time))) return pending;
      finish(Side::sender, make_error_code(Error::no_answer));
      continue;
    }
    if (!output.value() || !message) return output;
    if (message->is_text() && !is_utf8(message->bytes())) return Sent::ready(Error::bad_text);
    protocol_.send(*message);
    message.reset();
  }
}

Poll<Result<void>> Connection::close(Context& cx, const Close& close) {
  if (stage_ == Stage::open && !protocol_.is_closing()) {
    protocol_.close(close.code, close.reason);
    begin_close_time();
    wake_other(Side::sender);
  }
  for (;;) {
    if (stage_ == Stage::ending && poll_end(Side::sender, cx).is_pending()) return pending;
    if (stage_ == Stage::over) {
      return Poll<Result<void>>::ready(error_ ? Result<void>(error_) : Result<void>());
    }
    static_cast<void>(poll_output(Side::sender, cx));
    const auto event = poll_event(Side::sender, cx);
    if (event.is_pending() && !poll_times(Side::sender, cx)) return pending;
  }
}

Poll<std::optional<Protocol::Event>> Connection::poll_event(Side side, Context& cx) {
  using Event = Protocol::Event;
  using Found = Poll<std::optional<Event>>;
  for (;;) {
    switch (protocol_.next()) {
      case Event::message:
        if (!protocol_.is_closing()) return Found::ready(Event::message);
        static_cast<void>(protocol_.take_message());
        continue;
      case Event::closed:
        begin_end(side, std::error_code());
        return Found::ready(std::nullopt);
      case Event::failed:
        begin_end(side, make_error_code(protocol_.failure()));
        return Found::ready(std::nullopt);
      case Event::none:
        break;
    }
    const Poll<Result<std::size_t>> read = poll_read(side, cx);
    if (read.is_pending()) return pending;
    if (!read.value() || *read.value() == 0) {
      finish(side,
             read.value() ? make_error_code(io::Error::unexpected_eof) : read.value().error());
      return Found::ready(std::nullopt);
    }
    protocol_.filled(*read.value());
    heard_at_ = time::now();
    pinged_at_.reset();
  }
}

Poll<Result<std::size_t>> Connection::poll_read(Side side, Context& cx) {
  return reading_.poll(side, cx,
                       [&](Context& both) { return stream_.poll_read(both, protocol_.room()); });
}

Poll<Result<void>> Connection::poll_output(Side side, Context& cx) {
  using Written = Poll<Result<void>>;
  if (write_error_) return Written::ready(write_error_);
  if (protocol_.output().empty() && !needs_flush_) return Written::ready(Result<void>());
  Written written = writing_.poll(side, cx, [&](Context& both) { return poll_write(both); });
  if (written.is_pending()) return pending;
  if (!written.value()) write_error_ = written.value().error();
  writing_.wake(other(side));
  return written;
}

Poll<Result<void>> Connection::poll_write(Context& cx) {
  using Written = Poll<Result<void>>;
  for (;;) {
    const std::span<const std::byte> output = protocol_.output();
    if (output.empty()) break;
    const Poll<Result<std::size_t>> polled = stream_.poll_write(cx, output);
    if (polled.is_pending()) return pending;
    const Result<std::size_t>& n = polled.value();
    if (!n) return Written::ready(n.error());
    if (*n == 0) return Written::ready(io::Error::write_zero);
    protocol_.written(*n);
    needs_flush_ = true;
    taken_at_ = time::now();
  }
  if (!needs_flush_) return Written::ready(Result<void>());
  Written flushed = stream_.poll_flush(cx);
  if (flushed.is_ready()) needs_flush_ = false;
  return flushed;
}

void Connection::begin_end(Side side, std::error_code error) {
  stage_ = Stage::ending;
  error_ = error;
  begin_close_time();
  wake_other(side);
}

Poll<> Connection::poll_end(Side side, Context& cx) {
  const bool is_done = [&] {
    if (const auto output = poll_output(side, cx); output.is_pending()) return false;
    // The server ends the stream first; a client waits until it has.
    const bool ends_first = role_ == Role::server || error_;
    if (ends_first && !has_shut_down_) {
      const Poll<Result<void>> shut_down =
          writing_.poll(side, cx, [&](Context& both) { return stream_.poll_shutdown(both); });
      if (shut_down.is_pending()) return false;
      has_shut_down_ = true;
    }
    return (role_ == Role::server && !error_) || poll_linger(side, cx);
  }();
  if (!is_done && !has_passed(side, cx, after(*closing_at_, limits_.close_time))) return pending;
  finish(side, error_);
  return Poll<>::ready();
}

/// Throws away what still comes: else the system would tell the peer of an error before it has
/// read why it was closed. True: the peer has ended the stream.
bool Connection::poll_linger(Side side, Context& cx) {
  std::array<std::byte, 4096> thrown_away;
  for (int reads = 0;; ++reads) {
    const Poll<Result<std::size_t>> read = reading_.poll(
        side, cx, [&](Context& both) { return stream_.poll_read(both, thrown_away); });
    if (read.is_pending()) return false;
    if (!read.value() || *read.value() == 0) return true;
    if (reads < 16) continue;
    cx.waker().wake_by_ref();  // not all in one poll: the time has to be looked at
    return false;
  }
}

void Connection::finish(Side side, std::error_code error) {
  stage_ = Stage::over;
  error_ = error;
  wake_other(side);
}

bool Connection::poll_times(Side side, Context& cx) {
  if (closing_at_) {
    if (!has_passed(side, cx, after(*closing_at_, limits_.close_time))) return false;
    finish(side, make_error_code(Error::no_answer));
    return true;
  }
  const time::Instant since = pinged_at_.value_or(heard_at_);
  if (!has_passed(side, cx, after(since, limits_.ping_interval))) return false;
  if (pinged_at_) {
    finish(side, make_error_code(Error::no_answer));
  } else {
    protocol_.ping();
    pinged_at_ = time::now();
  }
  return true;
}

/// The timer is set anew only when it has fired or is too late: not for each message.
bool Connection::has_passed(Side side, Context& cx, time::Instant deadline) {
  if (deadline == time::Instant::max()) return false;
  std::optional<Sleep>& timer = timers_[static_cast<std::size_t>(side)];
  if (!timer) timer.emplace(deadline);
  if (timer->deadline() > deadline || timer->is_elapsed()) timer->reset(deadline);
  while (timer->poll(cx).is_ready()) {
    if (timer->deadline() >= deadline) return true;
    timer->reset(deadline);
  }
  return false;
}

void Connection::wake_other(Side side) {
  reading_.wake(other(side));
  writing_.wake(other(side));
}

void Connection::begin_close_time() {
  if (!closing_at_) closing_at_ = time::now();
}

}  // namespace rouse::http::ws
