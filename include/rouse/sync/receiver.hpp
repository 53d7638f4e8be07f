// Receiver<T>: the side of a channel that receives. See sync/channel.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/message_queue.hpp"

namespace rouse::sync {

class WaitingReceiver : public Waiter {};

/// Completes with the next message, or null when the channel has ended: all senders are gone, or it
/// was closed, and what was sent is received. Dropping it loses no message.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Recv {
 public:
  using Output = std::optional<T>;

  explicit Recv(MessageQueue<T>& queue) noexcept : queue_(&queue) {}
  Recv(Recv&&) noexcept = default;
  ~Recv() {
    if (!waiter_.is_fresh()) queue_->leave(waiter_);
  }
  [[gnu::always_inline]] Poll<std::optional<T>> poll(Context& cx) {
    return queue_->poll_recv(waiter_, cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  MessageQueue<T>* queue_;
  WaitingReceiver waiter_;
};

/// Completes with how many messages were added to a vector: as many as are there, up to a limit,
/// but at least one; 0 when the channel has ended. Dropping it loses no message.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RecvMany {
 public:
  using Output = std::size_t;

  RecvMany(MessageQueue<T>& queue, std::vector<T>& messages, std::size_t limit) noexcept
      : first_(queue), queue_(&queue), messages_(&messages), limit_(limit) {}

  Poll<std::size_t> poll(Context& cx) {
    if (limit_ == 0) return Poll<std::size_t>::ready(std::size_t{0});
    Poll<std::optional<T>> first = first_.poll(cx);
    if (first.is_pending()) return pending;
    std::size_t count = 0;
    bool made_room = false;
    for (std::optional<T> message = std::move(first).value(); message;
         message = queue_->pop(made_room)) {
      messages_->push_back(*std::move(message));
      if (++count == limit_) break;
    }
    if (made_room) queue_->serve_senders_soon(cx);
    return Poll<std::size_t>::ready(count);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  Recv<T> first_;
  MessageQueue<T>* queue_;
  std::vector<T>* messages_;
  std::size_t limit_;
};

/// Belongs to one task at a time. The channel is closed when the last of its receivers ends, and
/// what is still in it is destroyed then.
template <class T>
class Receiver {
 public:
  using Item = T;

  /// Takes over one that was counted.
  explicit Receiver(MessageQueue<T>& counted) noexcept : queue_(&counted) {}
  /// Whoever waits in `poll_next` is woken, to poll it at its new place.
  Receiver(Receiver&& other) noexcept : queue_(other.release()) {}
  Receiver& operator=(Receiver&& other) noexcept {
    if (this == &other) return *this;
    end();
    queue_ = other.release();
    return *this;
  }
  ~Receiver() { end(); }

  /// Another receiver of the same channel: each message goes to one of them, and those who wait get
  /// theirs in the order they came.
  [[nodiscard]] Receiver clone() const noexcept {
    queue().add_receiver();
    return Receiver(queue());
  }

  [[nodiscard]] Recv<T> recv() noexcept ROUSE_LIFETIMEBOUND { return Recv<T>(queue()); }
  [[nodiscard]] RecvMany<T> recv_many(std::vector<T>& messages,
                                      std::size_t limit) noexcept ROUSE_LIFETIMEBOUND {
    return RecvMany<T>(queue(), messages, limit);
  }
  /// The next message, if there is one now. Null also when the channel has ended.
  [[nodiscard]] std::optional<T> try_recv() noexcept {
    for (unsigned attempt = 0;; ++attempt) {
      std::optional<T> message = queue().pop();
      if (message || is_empty()) return message;
      back_off(attempt);  // for a sender that is about to fill its slot
    }
  }

  /// The channel as a Stream.
  Poll<std::optional<T>> poll_next(Context& cx) { return queue().poll_recv(waiter_, cx); }

  /// Nothing is sent from now on, but what was reserved. What was sent is still received.
  void close() noexcept { queue().close(); }
  /// Whether it was closed or all senders are gone.
  [[nodiscard]] bool is_closed() const noexcept { return queue().is_closed(); }

  /// How many messages are there now.
  [[nodiscard]] std::size_t len() const noexcept { return queue().size(); }
  [[nodiscard]] bool is_empty() const noexcept { return len() == 0; }
  /// For how many there is room now, and at most. An unbounded channel makes more.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue().free_room(); }
  [[nodiscard]] std::size_t max_capacity() const noexcept { return queue().capacity(); }
  [[nodiscard]] std::size_t sender_count() const noexcept { return queue().senders(); }

 private:
  MessageQueue<T>& queue() const noexcept {
    ROUSE_ASSERT(queue_, "use of a Receiver that was moved from: use the one it went to");
    return *queue_;
  }
  MessageQueue<T>* release() noexcept {
    if (!waiter_.is_fresh()) queue_->receiver_moves(waiter_);
    waiter_.reset();
    return std::exchange(queue_, nullptr);
  }
  void end() noexcept {
    if (!queue_) return;
    if (!waiter_.is_fresh()) queue_->leave(waiter_);
    waiter_.reset();
    if (!queue_->drop_receiver()) return;
    while (try_recv()) {
    }
    queue_->release();
  }

  MessageQueue<T>* queue_;
  WaitingReceiver waiter_;
};

}  // namespace rouse::sync
