// How every listener accepts, and waits when there are no descriptors.
#pragma once

#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/net/accept.hpp"

#include "net/native_address.hpp"
#include "net/socket.hpp"

namespace rouse::net {

/// Nothing tells when a descriptor is to be had again, or the system forbids no longer.
inline constexpr std::chrono::milliseconds accept_pause(20);

template <class S>
Poll<Result<Accepted<S>>> poll_accept(const io::AsyncFd& io, Context& cx,
                                      internal::AcceptWait& wait) {
  using Ready = Poll<Result<Accepted<S>>>;
  for (;;) {
    if (wait.pause && (*wait.pause).poll(cx).is_pending()) return pending;
    wait.pause.reset();
    auto polled =
        io.poll_io(cx, io::Interest::readable, wait.waiter, [&] { return accept_next(io.fd()); });
    if (polled.is_pending()) return pending;
    Result<AcceptedFd>& accepted = polled.value();
    std::error_code error;
    if (accepted) {
      auto watched = io::AsyncFd::own(std::move(accepted->fd));
      if (watched) {
        auto peer = from_native(accepted->peer);
        if (!peer) return Ready::ready(Result<Accepted<S>>(peer.error()));
        return Ready::ready(Accepted<S>(S(*std::move(watched)), *peer));
      }
      error = watched.error();
    } else {
      error = accepted.error();
    }
    if (!sys::is_out_of_resources(error) && !sys::is_of_one_connection(error)) {
      return Ready::ready(Result<Accepted<S>>(error));
    }
    wait.pause.emplace(sleep(accept_pause));
  }
}

}  // namespace rouse::net
