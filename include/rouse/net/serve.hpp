// net::serve: the accept loop, written once: a task for each connection, at most so many at a time,
// and a graceful end.
//
//   rouse::Async<void> handle(net::TcpStream stream, net::SocketAddr peer);
//
//   net::ServeLimits limits;
//   limits.max_connections = 1000;
//   limits.stop = token;
//   net::Served served = co_await net::serve(std::move(listener), handle, limits);
//
// Works with TcpListener, UnixListener, and whatever else has `Stream` and `poll_accept`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/function.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/net/accept.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {

/// How much `serve` takes on, and how it ends.
class ServeLimits {
 public:
  ServeLimits() {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice by GCC 12

  /// With so many open connections it accepts no more; the next ones wait in the backlog.
  std::size_t max_connections = static_cast<std::size_t>(-1);
  /// When this is cancelled, it closes the listener and drains. Handlers are not told: give them a
  /// copy of the token, if they are to say goodbye.
  sync::CancellationToken stop;
  /// Draining waits so long for the connections that are open, and then aborts them.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(30);
  /// Called with what a handler throws, on the task that serves. What it throws ends `serve`.
  /// Empty: such exceptions are only counted.
  Function<void(const std::exception_ptr&, const SocketAddr& peer)> on_error;
};

/// What `serve` did.
class Served {
 public:
  Served() noexcept {}         // NOLINT(*-use-equals-default): see ServeLimits
  std::uint64_t accepted = 0;  ///< connections
  std::uint64_t failed = 0;    ///< of them, those whose handler threw
  std::uint64_t aborted = 0;   ///< of them, those that were aborted: draining took too long
};

}  // namespace rouse::net

namespace rouse::internal {

/// A connection that has ended, by itself or by an exception.
class EndedConnection {
 public:
  EndedConnection(std::exception_ptr thrown, const net::SocketAddr& its_peer) noexcept
      : error(std::move(thrown)), peer(its_peer) {}
  std::exception_ptr error;
  net::SocketAddr peer;
};

template <class Handler, class Stream>
auto call_handler(Handler& handler, Stream stream, const net::SocketAddr& peer) {
  if constexpr (std::invocable<Handler&, Stream, const net::SocketAddr&>) {
    return handler(std::move(stream), peer);
  } else if constexpr (std::invocable<Handler&, Stream>) {
    return handler(std::move(stream));
  }
}

/// A function of (stream, peer), or of (stream), that gives a future.
template <class Handler, class Stream>
concept ConnectionHandler = Future<decltype(call_handler(
    std::declval<Handler&>(), std::declval<Stream>(), std::declval<const net::SocketAddr&>()))>;

/// The task of one connection. It owns a copy of the handler.
template <class Handler, class Stream>
Async<EndedConnection> serve_one(Handler handler, Stream stream, net::SocketAddr peer) {
  std::exception_ptr thrown;
  try {
    using Output = output_t<decltype(call_handler(handler, std::move(stream), peer))>;
    if constexpr (is_result<Output>) {  // its error counts as a failure
      const Output ended = co_await call_handler(handler, std::move(stream), peer);
      (void)ended.value();
    } else {
      co_await call_handler(handler, std::move(stream), peer);
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return EndedConnection(std::move(thrown), peer);
}

template <class Listener, class Handler>
class Serving {
  using Stream = typename Listener::Stream;

 public:
  using Output = net::Served;

  Serving(Listener listener, Handler handler, net::ServeLimits limits)
      : listener_(std::in_place, std::move(listener)),
        handler_(std::move(handler)),
        limits_(std::move(limits)),
        stop_(std::in_place, limits_.stop.cancelled()) {
    ROUSE_ASSERT(limits_.max_connections != 0,
                 "serve with max_connections = 0 would serve nobody: allow one at least");
  }

  /// Throws the listener's error, if it is broken.
  Poll<net::Served> poll(Context& cx) {
    if (listener_ && poll_accepting(cx).is_pending()) return pending;
    if (poll_draining(cx).is_pending()) return pending;
    if (failure_) throw std::system_error(failure_, "net::serve");
    return Poll<net::Served>::ready(served_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Serving, "serve", any_of, &Serving::stop_, &Serving::listener_, &Serving::wait_,
              &Serving::tasks_, &Serving::grace_)

 private:
  /// Ready when it is to accept no more: stopped, or the listener is broken.
  Poll<> poll_accepting(Context& cx) {
    while ((*stop_).poll(cx).is_pending()) {
      reap(cx);
      if (tasks_.size() >= limits_.max_connections) return pending;
      auto polled = (*listener_).poll_accept(cx, *wait_);
      if (polled.is_pending()) return pending;
      if (!polled.value()) {
        failure_ = polled.value().error();
        break;
      }
      begin(*std::move(polled).value());
    }
    stop_.reset();
    wait_.reset();
    listener_.reset();
    return Poll<>::ready();
  }
  /// Ready when no connection is left.
  Poll<> poll_draining(Context& cx) {
    reap(cx);
    if (tasks_.empty()) return Poll<>::ready();
    if (aborting_) return pending;
    if (!grace_) grace_.emplace(sleep(limits_.drain_timeout));
    if ((*grace_).poll(cx).is_pending()) return pending;
    aborting_ = true;
    grace_.reset();
    tasks_.abort_all();
    return poll_draining(cx);
  }
  void begin(net::Accepted<Stream> accepted) {
    ++served_.accepted;
    try {
      tasks_.spawn(serve_one<Handler, Stream>, handler_, std::move(accepted.stream), accepted.peer);
    } catch (...) {  // no memory: this connection is closed, the others go on
      failed(std::current_exception(), accepted.peer);
    }
  }
  void reap(Context& cx) {
    while (!tasks_.empty()) {
      std::optional<EndedConnection> ended;
      try {
        auto next = tasks_.join_next().poll(cx);
        if (next.is_pending()) return;
        ended = std::move(next).value();
      } catch (const JoinError&) {
        ++served_.aborted;
        continue;
      }
      if (ended && ended->error) failed(ended->error, ended->peer);
    }
  }
  void failed(const std::exception_ptr& error, const net::SocketAddr& peer) {
    ++served_.failed;
    if (limits_.on_error) limits_.on_error(error, peer);
  }

  Maybe<Listener> listener_;               // until it is to accept no more
  Maybe<AcceptWait> wait_{std::in_place};  // goes before the listener
  Handler handler_;
  net::ServeLimits limits_;
  Maybe<sync::CancellationToken::Cancelled> stop_;
  JoinSet<EndedConnection> tasks_;
  Maybe<Sleep> grace_;
  bool aborting_ = false;
  std::error_code failure_;
  net::Served served_;
};

template <class Listener, class Handler>
Async<net::Served> serve_until_stopped(Listener listener, Handler handler,
                                       net::ServeLimits limits) {
  Serving<Listener, Handler> serving(std::move(listener), std::move(handler), std::move(limits));
  co_return co_await serving;
}

}  // namespace rouse::internal

namespace rouse::net {

/// Accepts connections, and spawns for each of them a task that calls a copy of `handler` with the
/// stream and the peer's address (or with the stream only). Completes when `limits.stop` is
/// cancelled and all connections have ended, or were aborted after `limits.drain_timeout`. What a
/// handler throws ends its connection, and nothing else. Without free descriptors or memory it
/// pauses and tries again: see net::Accept.
/// Cancel safety: dropping it closes the listener and aborts the connections.
/// Threads: tasks of a runtime; the connections are tasks of the same one.
/// Errors: throws std::system_error if the listener itself is unusable, after it has drained.
template <class Listener, class Handler>
[[nodiscard]] auto serve(Listener listener, Handler handler, ServeLimits limits = ServeLimits()) {
  using Stream = typename Listener::Stream;
  constexpr bool fits =
      internal::ConnectionHandler<Handler, Stream> && std::copy_constructible<Handler>;
  static_assert(fits,
                "serve needs a function that can be copied, that takes (stream, peer) or (stream) "
                "by value, and that gives a future: rouse::Async<void> handle(net::TcpStream "
                "stream, net::SocketAddr peer)");
  if constexpr (fits) {
    return internal::serve_until_stopped<Listener, Handler>(std::move(listener), std::move(handler),
                                                            std::move(limits));
  }
}

}  // namespace rouse::net
