// channel<T>(capacity) and unbounded<T>(): messages from any number of senders to a receiver. Those
// of one sender arrive in the order they were sent.
//
//   auto [tx, rx] = sync::channel<int>(64);
//   spawn(produce, std::move(tx)).detach();               // copy it for more senders
//   while (auto message = co_await rx.recv()) use(*message);
//
// A bounded channel that is full lets its senders wait, in the order they came. The channel ends
// when all senders are gone, or when the receiver closes it: what was sent is still received.
// Operations never throw: a channel that is closed is an outcome, not an error.
// With GCC 12 name a message that is an aggregate: `co_await tx.send(Job{...})` destroys it twice.
// `rx.clone()` gives another receiver of the same channel; each message goes to one of them.
#pragma once

#include <cstddef>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/sync/receiver.hpp"
#include "rouse/sync/sender.hpp"

namespace rouse::sync {

template <class T>
using UnboundedReceiver = Receiver<T>;

/// For up to `capacity` messages, the memory of which is taken as it fills. Where there is none, it
/// is full with fewer.
template <class T>
[[nodiscard]] std::pair<Sender<T>, Receiver<T>> channel(std::size_t capacity) {
  ROUSE_ASSERT(capacity > 0, "sync::channel(0) could hold no message: give it room for at least 1");
  auto* queue = new MessageQueue<T>(capacity);
  queue->add_ref();  // one for the senders, one for the receivers
  return std::pair<Sender<T>, Receiver<T>>(Sender<T>(*queue), Receiver<T>(*queue));
}

/// For any number of messages: senders never wait, so nothing holds back one that is faster than
/// the receiver. The memory grows with the messages in it; when a receiver finds it empty, most
/// goes back.
template <class T>
[[nodiscard]] std::pair<UnboundedSender<T>, UnboundedReceiver<T>> unbounded() {
  auto* queue = new MessageQueue<T>(0);
  queue->add_ref();
  return std::pair<UnboundedSender<T>, UnboundedReceiver<T>>(UnboundedSender<T>(*queue),
                                                             Receiver<T>(*queue));
}

}  // namespace rouse::sync
