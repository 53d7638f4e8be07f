// AsyncFd: a file descriptor that tasks can wait for. All of rouse's sockets, pipes and processes
// wait through it, and so can any C library that has a descriptor:
//
//   io::AsyncFd watched(PQsocket(connection));          // borrowed: the library closes it
//   co_await watched.readable();
//   auto n = watched.try_io(io::Interest::readable, [&] { return ::read(fd, buf, sizeof buf); });
//
//   auto n = co_await watched.async_io(io::Interest::readable,
//                                      [&] { return ::read(fd, buf, sizeof buf); });
//
// The descriptor must not block (O_NONBLOCK): who tries too early must be told so. try_io and
// async_io try at once, and wait only after a try has said that it would block; `readable` and
// `writable` look whether it is so.
#pragma once

#include <concepts>
#include <cstddef>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/readiness_waiter.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::io {

class AsyncFd;
class Reactor;

/// Whether a call failed only because it may not wait.
[[nodiscard]] ROUSE_API bool would_block(std::error_code error) noexcept;
/// What errno says.
[[nodiscard]] ROUSE_API std::error_code last_error() noexcept;

/// A system call's -1 and errno as a Result; a Result stays as it is.
template <class T>
auto as_result(T value) {
  if constexpr (is_result<T>) {
    return value;
  } else {
    static_assert(std::signed_integral<T>,
                  "what tries the descriptor gives a Result, or what a system call gives: a count, "
                  "or -1 with errno");
    using Count = std::make_unsigned_t<T>;
    if (value < 0) return Result<Count>(last_error());
    return Result<Count>(static_cast<Count>(value));
  }
}
template <class Fn>
using tried_t = decltype(as_result(std::declval<Fn&>()()));

/// What `readable` and `writable` give: what was seen, for a later clear.
class ROUSE_API ReadyGuard {
 public:
  ReadyGuard(const AsyncFd& fd, Ready ready, Interest interest) noexcept
      : fd_(&fd), ready_(ready), interest_(interest) {}

  [[nodiscard]] Ready ready() const noexcept { return ready_; }
  /// The descriptor would block after all: the next wait lasts until the kernel tells of news. What
  /// it told since the guard was given is not forgotten.
  void clear_ready() noexcept;
  /// Calls `fn`, and clears if it says that it would block.
  template <class Fn>
  tried_t<Fn> try_io(Fn&& fn) {
    auto result = as_result(fn());
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
  /// Watches a descriptor that somebody else closes, after this is destroyed. Throws
  /// std::system_error: Error::not_pollable, or what the system says. Inside a runtime.
  explicit AsyncFd(int fd, Interest interest = Interest::both);
  /// Closes the descriptor at its end.
  explicit AsyncFd(OwnedFd fd, Interest interest = Interest::both);
  /// The same without throwing.
  static Result<AsyncFd> borrow(int fd, Interest interest = Interest::both) noexcept;
  static Result<AsyncFd> own(OwnedFd fd, Interest interest = Interest::both) noexcept;

  /// Not while a future of it is alive, which would abort with its next poll.
  AsyncFd(AsyncFd&& other) noexcept
      : owned_(std::move(other.owned_)),
        fd_(std::exchange(other.fd_, -1)),
        reactor_(std::exchange(other.reactor_, nullptr)),
        source_(std::exchange(other.source_, nullptr)) {}
  AsyncFd& operator=(AsyncFd&& other) noexcept;
  /// No longer watched; closed if it was owned.
  ~AsyncFd() {
    if (source_ != nullptr) unwatch();
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// No longer watched, and given to the caller; if it was only borrowed, without an owner.
  [[nodiscard]] OwnedFd into_fd() && noexcept;

  /// See Readiness. For what it was made to be watched for: waiting for more aborts with a hint.
  Readiness readable() const noexcept ROUSE_LIFETIMEBOUND;
  Readiness writable() const noexcept ROUSE_LIFETIMEBOUND;
  Readiness ready(Interest interest) const noexcept ROUSE_LIFETIMEBOUND;

  /// Calls `fn` if the descriptor counts as ready for `interest`; operation_would_block if not, or
  /// if `fn` says so.
  template <class Fn>
  tried_t<Fn> try_io(Interest interest, Fn&& fn) const {
    const Ready seen = now();
    if (!seen.is(interest)) return std::errc::operation_would_block;
    return ReadyGuard(*this, seen, interest).try_io(fn);
  }
  /// Calls `fn` when the descriptor is ready, again and again until it does not say that it would
  /// block. Completes with its result. Dropped midway, `fn` has done nothing. Any number of tasks.
  template <class Fn>
  AsyncIo<std::remove_cvref_t<Fn>> async_io(Interest interest, Fn&& fn) const ROUSE_LIFETIMEBOUND;

  // For poll functions.
  /// Pending: this context's waker will be woken, and that of no earlier call for this direction:
  /// one task for each direction at a time.
  Poll<Result<Ready>> poll_ready(Context& cx, Interest direction) const;
  /// The same for the task that has `waiter`, one of many.
  Poll<Result<Ready>> poll_ready(Context& cx, Interest interest, ReadinessWaiter& waiter) const;
  /// As `async_io`; one task for each direction at a time.
  template <class Fn>
  Poll<tried_t<Fn>> poll_io(Context& cx, Interest direction, Fn&& fn) const {
    return poll_until_done(cx, direction, fn, [&] { return poll_ready(cx, direction); });
  }
  template <class Fn>
  Poll<tried_t<Fn>> poll_io(Context& cx, Interest interest, ReadinessWaiter& waiter,
                            Fn&& fn) const {
    return poll_until_done(cx, interest, fn, [&] { return poll_ready(cx, interest, waiter); });
  }
  [[nodiscard]] Ready now() const noexcept;
  /// What the reactor knows of it.
  [[nodiscard]] IoSource& source() const noexcept;
  /// The system said that it would block.
  void clear_blocked(Ready seen, Interest interest) const noexcept;
  /// A stream gave less than there was room for, or took less than there was: it would block now.
  /// Its end, if that was seen, stays seen.
  void clear_drained(Ready seen, Interest direction) const noexcept;

 private:
  AsyncFd() noexcept = default;
  static Result<AsyncFd> make(OwnedFd owned, int fd, Interest interest) noexcept;
  void unwatch() noexcept;

  template <class Fn, class Wait>
  Poll<tried_t<Fn>> poll_until_done(Context& cx, Interest interest, Fn& fn, Wait wait) const {
    using Done = Poll<tried_t<Fn>>;
    for (;;) {
      auto polled = wait();
      if (polled.is_pending()) return pending;
      const auto& seen = polled.value();
      if (!seen) return Done::ready(tried_t<Fn>(seen.error()));
      if (!cx.take_budget()) return pending;
      auto result = as_result(fn());
      if (result || !would_block(result.error())) return Done::ready(std::move(result));
      clear_blocked(*seen, interest);
    }
  }

  OwnedFd owned_;
  int fd_ = -1;
  Reactor* reactor_ = nullptr;  // one of its owners
  IoSource* source_ = nullptr;
};

/// Completes when the descriptor is ready for one of the interests, or its other side is gone, or
/// it has an error. Dropped midway, nothing is lost. Any thread; any number of tasks at a time.
/// Errors: Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Readiness
    : public Fallible<Readiness, ReadyGuard> {
 public:
  Readiness(const AsyncFd& fd, Interest interest) noexcept : fd_(fd), interest_(interest) {}
  ROUSE_API Poll<Result<ReadyGuard>> poll_result(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  const AsyncFd& fd_;
  const Interest interest_;
  ReadinessWaiter waiter_;
};

/// See AsyncFd::async_io.
template <class Fn>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] AsyncIo
    : public Fallible<AsyncIo<Fn>, typename tried_t<Fn>::value_type> {
 public:
  AsyncIo(const AsyncFd& fd, Interest interest, Fn fn)
      : fd_(fd), interest_(interest), fn_(std::move(fn)) {}
  Poll<tried_t<Fn>> poll_result(Context& cx) { return fd_.poll_io(cx, interest_, waiter_, fn_); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  const AsyncFd& fd_;
  const Interest interest_;
  ReadinessWaiter waiter_;
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
