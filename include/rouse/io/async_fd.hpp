// AsyncFd: a file descriptor whose readiness tasks can await. All of rouse's sockets, pipes and
// processes use it, and so can any C library that has a descriptor:
//
//   io::AsyncFd watched(PQsocket(connection));          // borrowed: the library closes it
//   co_await watched.readable();
//   auto n = watched.try_io(io::Interest::readable, [&] { return ::read(fd, buf, sizeof buf); });
//
//   auto n = co_await watched.async_io(io::Interest::readable,
//                                      [&] { return ::read(fd, buf, sizeof buf); });
//
// The descriptor must be nonblocking (O_NONBLOCK): a call that would block must fail. try_io and
// async_io try at once, and wait only after a call that would block; `readable` and `writable`
// check the readiness first.
#pragma once

#include <concepts>
#include <cstddef>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/internal/poll_when_ready.hpp"
#include "rouse/io/internal/readiness_waiter.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::internal {
class Reactor;
}  // namespace rouse::internal

namespace rouse::io {

class AsyncFd;

/// The error code of errno.
[[nodiscard]] ROUSE_API std::error_code last_error() noexcept;

}  // namespace rouse::io

namespace rouse::internal {

/// A system call's -1 and errno as a Result; a Result is passed through.
template <class T>
auto as_result(T value) {
  if constexpr (is_result<T>) {
    return value;
  } else {
    static_assert(std::signed_integral<T>,
                  "what tries the descriptor gives a Result, or what a system call gives: a count, "
                  "or -1 with errno");
    using Count = std::make_unsigned_t<T>;
    if (value < 0) return Result<Count>(io::last_error());
    return Result<Count>(static_cast<Count>(value));
  }
}

}  // namespace rouse::internal

namespace rouse::io {

/// What `try_io(fn)` gives: the Result that `fn` gives, or a Result of the count that it gives, as
/// system calls do: below zero is an error.
template <class Fn>
using tried_t = decltype(internal::as_result(std::declval<Fn&>()()));

/// The result of `readable` and `writable`: the readiness that was seen, to be cleared later.
class ROUSE_API ReadyGuard {
 public:
  ReadyGuard(const AsyncFd& fd, Ready ready, Interest interest) noexcept
      : fd_(&fd), ready_(ready), interest_(interest) {}

  /// The readiness that was seen.
  [[nodiscard]] Ready ready() const noexcept { return ready_; }
  /// The descriptor would block after all: the next wait lasts until the kernel reports a new
  /// event. Events since the guard was created are not lost.
  void clear_ready() noexcept;
  /// Calls `fn`, and clears the readiness if `fn` would block.
  template <class Fn>
  tried_t<Fn> try_io(Fn&& fn) {
    auto result = internal::as_result(fn());
    if (!result && would_block(result.error())) clear_ready();
    return result;
  }

 private:
  const AsyncFd* fd_;
  Ready ready_;
  Interest interest_;
};

class Readiness;
template <class Fn>
class AsyncIo;

class ROUSE_API AsyncFd {
 public:
  /// Registers a descriptor that somebody else closes, after this is destroyed.
  /// Threads: any, inside a runtime.
  /// Errors: throws std::system_error: Error::not_pollable, or the system's.
  explicit AsyncFd(int fd, Interest interest = Interest::both);
  /// Owns the descriptor and closes it.
  explicit AsyncFd(OwnedFd fd, Interest interest = Interest::both);
  /// The same without throwing.
  static Result<AsyncFd> borrow(int fd, Interest interest = Interest::both) noexcept;
  /// As the constructor, without throwing.
  static Result<AsyncFd> own(OwnedFd fd, Interest interest = Interest::both) noexcept;

  /// Not while a future of it is alive: that future would abort at its next poll.
  AsyncFd(AsyncFd&& other) noexcept
      : owned_(std::move(other.owned_)),
        fd_(std::exchange(other.fd_, -1)),
        reactor_(std::exchange(other.reactor_, nullptr)),
        source_(std::exchange(other.source_, nullptr)) {}
  AsyncFd& operator=(AsyncFd&& other) noexcept;
  /// Deregisters the descriptor; closes it if it is owned.
  ~AsyncFd() {
    if (source_ != nullptr) unwatch();
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Deregisters the descriptor and returns it; empty if it was only borrowed.
  [[nodiscard]] OwnedFd into_fd() && noexcept;

  /// See Readiness. Only for the interests it was registered for: waiting for others aborts with a
  /// message.
  Readiness readable() const noexcept ROUSE_LIFETIMEBOUND;
  /// See Readiness.
  Readiness writable() const noexcept ROUSE_LIFETIMEBOUND;
  /// See Readiness.
  Readiness ready(Interest interest) const noexcept ROUSE_LIFETIMEBOUND;

  /// Calls `fn` if the descriptor counts as ready for `interest`.
  /// Errors: operation_would_block if it is not ready, or if `fn` would block.
  template <class Fn>
  tried_t<Fn> try_io(Interest interest, Fn&& fn) const {
    const Ready seen = now();
    if (!seen.is(interest)) return std::errc::operation_would_block;
    return ReadyGuard(*this, seen, interest).try_io(fn);
  }
  /// Calls `fn` whenever the descriptor is ready, until it does not block. Completes with its
  /// result.
  /// Cancel safety: if dropped midway, `fn` has done nothing.
  /// Threads: any number of tasks.
  template <class Fn>
  AsyncIo<std::remove_cvref_t<Fn>> async_io(Interest interest, Fn&& fn) const ROUSE_LIFETIMEBOUND;

  // For poll functions.
  /// Pending: this context's waker will be woken, but not that of an earlier call for this
  /// direction: one task per direction at a time.
  Poll<Result<Ready>> poll_ready(Context& cx, Interest direction) const;
  /// The same for the task that owns `waiter`, one of many.
  Poll<Result<Ready>> poll_ready(Context& cx, Interest interest,
                                 internal::ReadinessWaiter& waiter) const;
  /// As `async_io`; one task per direction at a time.
  template <class Fn>
  Poll<tried_t<Fn>> poll_io(Context& cx, Interest direction, Fn&& fn) const {
    return poll_until_done(cx, direction, fn, [&] { return poll_ready(cx, direction); });
  }
  template <class Fn>
  Poll<tried_t<Fn>> poll_io(Context& cx, Interest interest, internal::ReadinessWaiter& waiter,
                            Fn&& fn) const {
    return poll_until_done(cx, interest, fn, [&] { return poll_ready(cx, interest, waiter); });
  }
  /// The current readiness, without waiting.
  [[nodiscard]] Ready now() const noexcept;
  /// The reactor's record of it.
  [[nodiscard]] internal::IoSource& source() const noexcept;
  /// The system call would block.
  void clear_blocked(Ready seen, Interest interest) const noexcept;
  /// A short read or write: the stream would block now. If its end of file was seen, that stays
  /// recorded.
  void clear_drained(Ready seen, Interest direction) const noexcept;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AsyncFd, "descriptor", descriptor, &AsyncFd::fd_)

 private:
  AsyncFd() noexcept = default;
  static Result<AsyncFd> make(OwnedFd owned, int fd, Interest interest) noexcept;
  void unwatch() noexcept;

  template <class Fn, class Wait>
  Poll<tried_t<Fn>> poll_until_done(Context& cx, Interest interest, Fn& fn, Wait wait) const {
    using Done = Poll<tried_t<Fn>>;
    const auto attempt = [&](const Result<Ready>& seen) -> Done {
      if (!seen) return Done::ready(tried_t<Fn>(seen.error()));
      if (!cx.take_budget()) return pending;
      return Done::ready(internal::as_result(fn()));
    };
    return internal::poll_when_ready(wait, attempt,
                                     [&](Ready seen) { clear_blocked(seen, interest); });
  }

  OwnedFd owned_;
  int fd_ = -1;
  internal::Reactor* reactor_ = nullptr;  // holds a reference
  internal::IoSource* source_ = nullptr;
};

/// Completes when the descriptor is ready for one of the interests, its peer has closed, or it has
/// an error.
/// Cancel safety: dropping it loses nothing.
/// Threads: any; any number of tasks at a time.
/// Errors: Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Readiness
    : public ResultFuture<Readiness, ReadyGuard> {
 public:
  Readiness(const AsyncFd& fd, Interest interest) noexcept : fd_(&fd), interest_(interest) {}
  ROUSE_API Poll<Result<ReadyGuard>> poll_result(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Readiness, "ready", one, &Readiness::fd_)

 private:
  const AsyncFd* fd_;
  const Interest interest_;
  internal::ReadinessWaiter waiter_;
};

/// See AsyncFd::async_io.
template <class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] AsyncIo
    : public ResultFuture<AsyncIo<Fn>, typename tried_t<Fn>::value_type> {
 public:
  AsyncIo(const AsyncFd& fd, Interest interest, Fn fn)
      : fd_(&fd), interest_(interest), fn_(std::move(fn)) {}
  Poll<tried_t<Fn>> poll_result(Context& cx) { return fd_->poll_io(cx, interest_, waiter_, fn_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AsyncIo, "async_io", one, &AsyncIo::fd_)

 private:
  const AsyncFd* fd_;
  const Interest interest_;
  internal::ReadinessWaiter waiter_;
  Fn fn_;
};

inline Readiness AsyncFd::readable() const noexcept { return {*this, Interest::readable}; }
inline Readiness AsyncFd::writable() const noexcept { return {*this, Interest::writable}; }
inline Readiness AsyncFd::ready(Interest interest) const noexcept { return {*this, interest}; }

template <class Fn>
AsyncIo<std::remove_cvref_t<Fn>> AsyncFd::async_io(Interest interest, Fn&& fn) const {
  return {*this, interest, std::forward<Fn>(fn)};
}

}  // namespace rouse::io
