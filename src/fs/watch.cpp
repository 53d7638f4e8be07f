#include "rouse/fs/watch.hpp"

#include <span>
#include <system_error>

#include "exec/blocking/call_blocking.hpp"
#include "sys/fd.hpp"
#include "sys/watch.hpp"

namespace rouse::fs {

using namespace internal;

static_assert(static_cast<int>(WatchKind::overflow) == static_cast<int>(sys::Change::overflow) &&
              static_cast<int>(WatchKind::removed) == static_cast<int>(sys::Change::removed));

PollNext<WatchEvent> Watch::poll_next(Context& cx) {
  using Ready = PollNext<WatchEvent>;
  while (!has_ended_) {
    if (taken_ == filled_) {
      const auto polled = poll_read(cx);
      if (polled.is_pending()) return pending;
      filled_ = polled.value().value();  // throws
      taken_ = 0;
      if (filled_ == 0) break;
    }
    std::size_t size = 0;
    auto event = sys::first_event(std::span(bytes_).first(filled_).subspan(taken_), size);
    taken_ += size;
    if (!event) continue;
    if (event->change == sys::Change::ended) break;
    // The end may be among what was lost. What is lost after this read makes another overflow.
    if (event->change == sys::Change::overflow) is_gone_ = !sys::is_watching(io_.fd());
    return Ready::ready(
        std::optional<WatchEvent>(std::in_place, static_cast<WatchKind>(event->change),
                                  std::move(event->name), event->is_dir, event->cookie));
  }
  has_ended_ = true;
  return Ready::ready(std::nullopt);
}

Poll<Result<std::size_t>> Watch::poll_read(Context& cx) {
  bytes_.resize(sys::watch_buffer_size);
  const auto read = [&] { return sys::read(io_.fd(), bytes_); };
  if (!is_gone_) return io_.poll_io(cx, io::Interest::readable, read);
  const Result<std::size_t> rest = read();
  const bool is_empty = !rest && sys::would_block(rest.error());
  return Poll<Result<std::size_t>>::ready(is_empty ? Result<std::size_t>(std::size_t{0}) : rest);
}

AsyncResult<Watch> watch(std::string path) {
  auto call = [path = std::move(path)] { return sys::open_watch(path); };
  Result<io::OwnedFd> fd = co_await call_blocking(std::move(call)).result();
  if (!fd) co_return fd.error();
  Result<io::AsyncFd> io = io::AsyncFd::own(*std::move(fd), io::Interest::readable);
  if (!io) co_return io.error();
  co_return Watch(*std::move(io));
}

}  // namespace rouse::fs
