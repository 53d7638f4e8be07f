#include "rouse/io/async_fd.hpp"

#include "rouse/base/assert.hpp"
#include "rouse/io/error.hpp"

#include "io/reactor.hpp"
#include "sys/fd.hpp"

namespace rouse::io {

using namespace internal;

std::error_code last_error() noexcept { return sys::last_error_code(); }

AsyncFd::AsyncFd(int fd, Interest interest) : AsyncFd(borrow(fd, interest).value()) {}
AsyncFd::AsyncFd(OwnedFd fd, Interest interest) : AsyncFd(own(std::move(fd), interest).value()) {}

Result<AsyncFd> AsyncFd::borrow(int fd, Interest interest) noexcept {
  return make(OwnedFd(), fd, interest);
}
Result<AsyncFd> AsyncFd::own(OwnedFd fd, Interest interest) noexcept {
  const int number = fd.get();
  return make(std::move(fd), number, interest);
}

Result<AsyncFd> AsyncFd::make(OwnedFd owned, int fd, Interest interest) noexcept {
  Reactor* const reactor = Reactor::current();
  ROUSE_ASSERT(
      reactor != nullptr,
      "a socket, pipe or AsyncFd was made outside of a runtime, where nobody waits for it: "
      "make it in a task (rouse::run, Runtime::block_on), or keep `auto here = "
      "rt.enter();` meanwhile");
  const Result<IoSource*> source = reactor->add(fd, interest);
  if (!source) return source.error();
  AsyncFd made;
  made.owned_ = std::move(owned);
  made.fd_ = fd;
  made.source_ = *source;
  made.reactor_ = RefPtr<Reactor>::share(reactor).leak();
  return made;
}

AsyncFd& AsyncFd::operator=(AsyncFd&& other) noexcept {
  if (this == &other) return *this;
  if (source_ != nullptr) unwatch();
  owned_ = std::move(other.owned_);
  fd_ = std::exchange(other.fd_, -1);
  reactor_ = std::exchange(other.reactor_, nullptr);
  source_ = std::exchange(other.source_, nullptr);
  return *this;
}

void AsyncFd::unwatch() noexcept {
  const auto reactor = RefPtr<Reactor>::adopt(std::exchange(reactor_, nullptr));
  reactor->remove(*std::exchange(source_, nullptr), fd_);
}

OwnedFd AsyncFd::into_fd() && noexcept {
  if (source_ != nullptr) unwatch();
  fd_ = -1;
  return std::move(owned_);
}

IoSource& AsyncFd::source() const noexcept {
  ROUSE_ASSERT(source_ != nullptr,
               "use of a socket or AsyncFd that was moved from, perhaps by a future made before: "
               "move it while it has no futures, and use it where it went");
  return *source_;
}

Poll<Result<Ready>> AsyncFd::poll_ready(Context& cx, Interest direction) const {
  return source().poll_seen(direction, cx);
}

Poll<Result<Ready>> AsyncFd::poll_ready(Context& cx, Interest interest,
                                        ReadinessWaiter& waiter) const {
  Ready ready;
  if (!source().poll_ready(waiter, interest, cx, ready)) return pending;
  return IoSource::seen(ready, interest);
}

Ready AsyncFd::now() const noexcept { return source().ready(); }
void AsyncFd::clear_blocked(Ready seen, Interest interest) const noexcept {
  source().clear_blocked(seen, interest);
}
void AsyncFd::clear_drained(Ready seen, Interest direction) const noexcept {
  source().clear_drained(seen, direction);
}

void ReadyGuard::clear_ready() noexcept { fd_->clear_blocked(ready_, interest_); }

/// A new descriptor counts as ready until it is tried; here nobody tries, so its readiness is
/// checked first.
Poll<Result<ReadyGuard>> Readiness::poll_result(Context& cx) {
  using Guard = Poll<Result<ReadyGuard>>;
  const auto look = [&](const Result<Ready>& seen) -> Guard {
    if (!seen) return Guard::ready(Result<ReadyGuard>(seen.error()));
    if (!cx.take_budget()) return pending;
    if (!sys::is_ready_now(fd_->fd(), interest_)) {
      return Guard::ready(Result<ReadyGuard>(std::errc::operation_would_block));
    }
    return Guard::ready(ReadyGuard(*fd_, *seen, interest_));
  };
  return internal::poll_when_ready([&] { return fd_->poll_ready(cx, interest_, waiter_); }, look,
                                   [&](Ready seen) { fd_->clear_blocked(seen, interest_); });
}

}  // namespace rouse::io
