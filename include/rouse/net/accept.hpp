// Accept: the next connection of a listener. Incoming: all of them, as a stream.
#pragma once

#include <optional>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/internal/readiness_waiter.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {

/// A connection, and the address of its peer.
template <class S>
class Accepted {
 public:
  Accepted(S the_stream, const SocketAddr& its_peer)
      : stream(std::move(the_stream)), peer(its_peer) {}
  S stream;         ///< the connection
  SocketAddr peer;  ///< where it came from
};

}  // namespace rouse::net

namespace rouse::internal {

/// The state of a waiting accept.
class AcceptWait {
 public:
  AcceptWait() noexcept = default;
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AcceptWait, nullptr, one, &AcceptWait::pause)
  internal::ReadinessWaiter waiter;
  internal::Maybe<Sleep> pause;  // before the next try
};

}  // namespace rouse::internal

namespace rouse::net {

/// Completes with a connection. It skips connections that are already gone or that a firewall
/// rejects. Without free descriptors or memory, or after 64 rejected connections in a row, it
/// retries every 20 ms: the listener survives that.
/// Cancel safety: dropping it loses no connection: the next accept gets it.
/// Threads: any number of tasks may accept at once.
/// Errors: Error::runtime_ended, and those that mean that the listener itself is unusable.
template <class Listener>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Accept
    : public ResultFuture<Accept<Listener>, Accepted<typename Listener::Stream>> {
 public:
  explicit Accept(Listener& listener) noexcept : listener_(&listener) {}
  Poll<Result<Accepted<typename Listener::Stream>>> poll_result(Context& cx) {
    return listener_->poll_accept(cx, wait_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Accept, "accept", any_of, &Accept::listener_, &Accept::wait_)

 private:
  Listener* listener_;
  internal::AcceptWait wait_;
};

/// An endless stream of connections; throws std::system_error where `accept` fails.
template <class Listener>
class Incoming {
 public:
  using Item = Accepted<typename Listener::Stream>;

  explicit Incoming(Listener& listener) noexcept : listener_(&listener) {}
  PollNext<Item> poll_next(Context& cx) {
    auto polled = listener_->poll_accept(cx, wait_);
    if (polled.is_pending()) return pending;
    return PollNext<Item>::ready(std::optional<Item>(std::move(polled.value()).value()));
  }
  /// Completes with the next connection.
  /// Cancel safety: if dropped midway, none is lost.
  Next<Incoming> next() noexcept ROUSE_LIFETIMEBOUND { return Next<Incoming>(*this); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Incoming, "accept", any_of, &Incoming::listener_, &Incoming::wait_)

 private:
  Listener* listener_;
  internal::AcceptWait wait_;
};

}  // namespace rouse::net
