// Accept: the next connection of a listener. Incoming: all of them, as a stream.
#pragma once

#include <optional>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/readiness_waiter.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::net {

/// A connection, and who is at its other end.
template <class S>
class Accepted {
 public:
  Accepted(S the_stream, const SocketAddr& its_peer)
      : stream(std::move(the_stream)), peer(its_peer) {}
  S stream;
  SocketAddr peer;
};

/// What one who waits for a connection keeps meanwhile.
class AcceptWait {
 public:
  AcceptWait() noexcept = default;
  io::ReadinessWaiter waiter;
  std::optional<Sleep> pause;  // no connection is to be had: until the next try
};

/// Completes with a connection. One that is gone again, or that a firewall forbids, is passed over.
/// Where none can be had for want of descriptors or memory, or 64 in a row are forbidden, it tries
/// again every 20 ms: a listener outlives that. Dropped midway, no connection is lost: whoever
/// accepts next gets it. Any number of tasks may accept at once. Errors: Error::runtime_ended, and
/// those that say that the listener itself is of no use.
template <class Listener>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Accept
    : public Fallible<Accept<Listener>, Accepted<typename Listener::Stream>> {
 public:
  explicit Accept(Listener& listener) noexcept : listener_(listener) {}
  Poll<Result<Accepted<typename Listener::Stream>>> poll_result(Context& cx) {
    return listener_.poll_accept(cx, wait_);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  Listener& listener_;
  AcceptWait wait_;
};

/// A stream without end of what `accept` gives; throws std::system_error where that does.
template <class Listener>
class Incoming {
 public:
  using Item = Accepted<typename Listener::Stream>;

  explicit Incoming(Listener& listener) noexcept : listener_(listener) {}
  PollNext<Item> poll_next(Context& cx) {
    auto polled = listener_.poll_accept(cx, wait_);
    if (polled.is_pending()) return pending;
    return PollNext<Item>::ready(std::optional<Item>(std::move(polled.value()).value()));
  }
  Next<Incoming> next() noexcept ROUSE_LIFETIMEBOUND { return Next<Incoming>(*this); }

 private:
  Listener& listener_;
  AcceptWait wait_;
};

}  // namespace rouse::net
