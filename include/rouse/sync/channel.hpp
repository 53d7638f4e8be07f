// channel<T>(capacity) and unbounded<T>(): messages from any number of senders to a receiver.
// Messages of one sender arrive in the order in which they were sent.
//
//   auto [tx, rx] = sync::channel<int>(64);
//   spawn(produce, std::move(tx)).detach();               // copy it for more senders
//   while (auto message = co_await rx.recv()) use(*message);
//
// A bounded channel has back-pressure: when it is full, senders wait, in order of arrival. The
// channel ends when all senders are gone, or when the receiver closes it: what was sent is still
// received. Operations never throw: a closed channel is an outcome, not an exception. A message
// that was not sent is not lost: what does not wait (try_send, and `send` of all other senders)
// leaves its argument untouched; the future of `send` owns the message, and keeps it
// (Send::message), so that also a send that timed out gives it back, and `send(v)` gives a plain
// Result. With GCC 12 name a message that is an aggregate: `co_await tx.send(Job{...})` destroys it
// twice. `rx.clone()` gives another receiver of the same channel; each message goes to one of them.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/sync/receiver.hpp"
#include "rouse/sync/sender.hpp"

namespace rouse::sync {

/// The receiver of `unbounded`.
template <class T>
using UnboundedReceiver = Receiver<T>;

/// For up to `capacity` messages; memory is allocated as it fills. If there is no memory, it counts
/// as full with fewer.
template <class T>
[[nodiscard]] std::pair<Sender<T>, Receiver<T>> channel(std::size_t capacity) {
  ROUSE_ASSERT(capacity > 0, "sync::channel(0) could hold no message: give it room for at least 1");
  auto* queue = new internal::MessageQueue<T>(capacity);
  queue->add_ref();  // one for the senders, one for the receivers
  return std::pair<Sender<T>, Receiver<T>>(Sender<T>(*queue), Receiver<T>(*queue));
}

/// For any number of messages. No back-pressure: senders never wait, so nothing slows down senders
/// that are faster than the receiver. Its memory grows with the messages in it; when a receiver
/// finds it empty, most of the memory is given back.
template <class T>
[[nodiscard]] std::pair<UnboundedSender<T>, UnboundedReceiver<T>> unbounded() {
  auto* queue = new internal::MessageQueue<T>(0);
  queue->add_ref();
  return std::pair<UnboundedSender<T>, UnboundedReceiver<T>>(UnboundedSender<T>(*queue),
                                                             Receiver<T>(*queue));
}

}  // namespace rouse::sync
