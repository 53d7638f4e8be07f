// How every datagram socket sends: it waits until there is room. The kernel reports room, except in
// two cases, in which we retry after a pause that grows from 1 ms to 50 ms: the queue of a network
// card is full (ENOBUFS); or the queue of a Unix socket that the sender is not connected to is
// full: then the kernel reports only when a datagram of the sender's own was received. And one full
// receiver says nothing about the others, so there every send is tried at once.
#pragma once

#include <algorithm>
#include <utility>

#include "rouse/base/internal/durations.hpp"
#include "rouse/net/datagram_socket.hpp"

#include "sys/datagram.hpp"

namespace rouse {

enum class internal::RoomIs : bool { told, not_always_told };

namespace net {

inline constexpr std::chrono::milliseconds longest_send_pause(50);

inline void pause_send(internal::SendWait& wait, bool may_end_early) {
  wait.pause.emplace(sleep(wait.next_pause));
  wait.may_end_early = may_end_early;
  wait.next_pause = std::min(2 * wait.next_pause, longest_send_pause);
}

/// `fn` tries to send and gives a Result.
template <class Fn>
auto poll_send(const io::AsyncFd& io, Context& cx, internal::SendWait& wait, internal::RoomIs room,
               Fn&& fn) -> Poll<decltype(fn())> {
  using Sent = decltype(fn());
  using Seen = Poll<Result<io::Ready>>;
  const auto wait_for_room = [&]() -> Seen {
    const bool must_pause = wait.pause && (*wait.pause).poll(cx).is_pending();
    const Seen polled = io.poll_ready(cx, io::Interest::writable, wait.waiter);
    if (polled.is_ready() && !polled.value()) return polled;
    if (must_pause && !(wait.may_end_early && polled.is_ready())) return pending;
    if (!wait.pause && polled.is_pending() && room == internal::RoomIs::told) return pending;
    return polled.is_ready() ? polled : Seen::ready(io.now());
  };
  bool card_is_full = false;
  const auto send = [&](const Result<io::Ready>& seen) -> Poll<Sent> {
    if (!seen) return Poll<Sent>::ready(Sent(seen.error()));
    if (!cx.take_budget()) return pending;
    wait.pause.reset();
    Sent sent = fn();
    card_is_full = !sent && sys::is_without_buffers(sent.error());
    if (card_is_full) return Poll<Sent>::ready(Sent(std::errc::operation_would_block));
    return Poll<Sent>::ready(std::move(sent));
  };
  return internal::poll_when_ready(wait_for_room, send, [&](io::Ready seen) {
    if (card_is_full) return pause_send(wait, false);  // the socket itself has room
    io.clear_blocked(seen, io::Interest::writable);
    if (room == internal::RoomIs::not_always_told) pause_send(wait, true);
  });
}

}  // namespace net
}  // namespace rouse
