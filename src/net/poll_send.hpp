// How every datagram socket sends: waits until there is room. That the system tells of, but for two
// cases, in which it is tried again after a pause that grows from 1 ms to 50 ms:
// the queue of a network card is full (ENOBUFS); and the queue of a Unix socket that the sender is
// not connected to: then the system tells only when a datagram of the sender's own was taken. And
// one full receiver says nothing of the others, so there every send is tried at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "rouse/net/datagram_socket.hpp"

#include "sys/datagram.hpp"

namespace rouse::net {

inline constexpr std::chrono::milliseconds longest_send_pause(50);

enum class RoomIs : bool { told, not_always_told };

inline void pause_send(SendWait& wait, bool may_end_early) {
  wait.pause.emplace(sleep(wait.next_pause));
  wait.may_end_early = may_end_early;
  wait.next_pause = std::min(2 * wait.next_pause, longest_send_pause);
}

/// `fn` tries to send and gives a Result.
template <class Fn>
auto poll_send(const io::AsyncFd& io, Context& cx, SendWait& wait, RoomIs room, Fn&& fn)
    -> Poll<decltype(fn())> {
  using Sent = decltype(fn());
  for (;;) {
    const bool must_pause = wait.pause && wait.pause->poll(cx).is_pending();
    const auto polled = io.poll_ready(cx, io::Interest::writable, wait.waiter);
    if (polled.is_ready() && !polled.value()) {
      return Poll<Sent>::ready(Sent(polled.value().error()));
    }
    if (must_pause && !(wait.may_end_early && polled.is_ready())) return pending;
    if (!wait.pause && polled.is_pending() && room == RoomIs::told) return pending;
    if (!cx.take_budget()) return pending;
    wait.pause.reset();

    const io::Ready seen = polled.is_ready() ? *polled.value() : io.now();
    Sent sent = fn();
    if (sent) return Poll<Sent>::ready(std::move(sent));
    if (sys::is_without_buffers(sent.error())) {
      pause_send(wait, false);
    } else if (io::would_block(sent.error())) {
      io.clear_blocked(seen, io::Interest::writable);
      if (room == RoomIs::not_always_told) pause_send(wait, true);
    } else {
      return Poll<Sent>::ready(std::move(sent));
    }
  }
}

}  // namespace rouse::net
