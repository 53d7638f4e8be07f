// Reply, and where its bytes come from.
#include "rouse/http/reply.hpp"

#include "rouse/http/client_error.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/time/instant.hpp"

#include "http/reply_source.hpp"

namespace rouse::http {

void Reply::check() const {
  if (is_error(status_)) throw StatusError(status_, url_);
}

TimeLimit TimeLimit::of(time::Nanoseconds own) {
  const time::Instant at = time::add(time::now(), own);
  const std::optional<time::Instant> deadline = Deadline::current();
  if (deadline && *deadline < at) return TimeLimit(*deadline, DeadlineError::passed);
  return TimeLimit(at, std::make_error_code(std::errc::timed_out));
}

void give_back(Pooled<ClientConnection> connection) noexcept {
  connection->skip_buffered();
  connection->stop_sending();
  if (!connection->is_between_requests()) return;
  connection.mark_clean(connection->idle_limit());
}

ReplySource::~ReplySource() { give_back(); }

void ReplySource::give_back() noexcept {
  if (!connection_) return;
  http::give_back(*std::move(connection_));
  connection_.reset();
}

Poll<Result<std::size_t>> ReplySource::fail(std::error_code error) {
  error_ = error;
  give_back();
  return Poll<Result<std::size_t>>::ready(error);
}

Poll<Result<std::size_t>> ReplySource::poll_read(Context& cx, std::span<std::byte> buf) {
  using Ready = Poll<Result<std::size_t>>;
  if (error_) return Ready::ready(error_);
  if (!connection_ || buf.empty()) return Ready::ready(std::size_t{0});
  const bool has_limit = limit_.at != time::Instant::max();
  if (has_limit && limit_.at <= time::now()) return fail(limit_.error);
  ClientConnection& connection = **connection_;
  const Ready polled = connection.poll_body(cx, buf);
  if (polled.is_pending()) {
    if (has_limit && timer_.poll(cx)) return fail(limit_.error);
    return pending;
  }
  if (!polled.value()) return fail(polled.value().error());
  if (left_) *left_ -= *polled.value();
  if (connection.is_whole()) give_back();
  return polled;
}

}  // namespace rouse::http
