// Receiver<T>: the receiving side of a channel. See sync/channel.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/internal/message_queue.hpp"

namespace rouse::internal {

/// A receiver in the queue of those who wait.
class WaitingReceiver : public internal::Waiter {};

}  // namespace rouse::internal

namespace rouse::sync {

/// Completes with the next message, or with an empty optional when the channel has ended: all
/// senders are gone, or it was closed, and everything sent was received.
/// Cancel safety: dropping it loses no message.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Recv {
 public:
  using Output = std::optional<T>;
  static constexpr bool polled_out_of_line = !std::is_trivially_copyable_v<T>;

  explicit Recv(internal::MessageQueue<T>& queue) noexcept : queue_(&queue) {}
  Recv(Recv&&) noexcept = default;
  ~Recv() {
    if (!waiter_.is_fresh()) queue_->leave(waiter_);
  }
  [[gnu::always_inline]] Poll<std::optional<T>> poll(Context& cx) {
    return queue_->poll_recv(waiter_, cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Recv, "channel", receive, &Recv::queue_)

 private:
  internal::MessageQueue<T>* queue_;
  internal::WaitingReceiver waiter_;
};

/// Completes with how many messages were appended to a vector: as many as are there, up to a limit,
/// at least one; 0 when the channel has ended.
/// Cancel safety: dropping it loses no message.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] RecvMany {
 public:
  using Output = std::size_t;

  RecvMany(internal::MessageQueue<T>& queue, std::vector<T>& messages, std::size_t limit) noexcept
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
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(RecvMany, nullptr, one, &RecvMany::first_)

 private:
  Recv<T> first_;
  internal::MessageQueue<T>* queue_;
  std::vector<T>* messages_;
  std::size_t limit_;
};

/// The channel is closed when its last receiver is destroyed; the messages still in it are
/// destroyed then.
/// Threads: one task at a time.
template <class T>
class Receiver {
 public:
  using Item = T;

  /// Takes over a counted reference.
  explicit Receiver(internal::MessageQueue<T>& counted) noexcept : queue_(&counted) {}
  /// Wakes a waiter in `poll_next`, which must poll it at its new place.
  Receiver(Receiver&& other) noexcept : queue_(other.release()) {}
  Receiver& operator=(Receiver&& other) noexcept {
    if (this == &other) return *this;
    end();
    queue_ = other.release();
    return *this;
  }
  ~Receiver() { end(); }

  /// Another receiver of the same channel: each message goes to one of them; waiting receivers are
  /// served in order.
  [[nodiscard]] Receiver clone() const noexcept {
    queue().add_receiver();
    return Receiver(queue());
  }

  /// Completes with the next message. See Recv.
  [[nodiscard]] Recv<T> recv() noexcept ROUSE_LIFETIMEBOUND { return Recv<T>(queue()); }
  /// Adds messages to a vector. See RecvMany.
  [[nodiscard]] RecvMany<T> recv_many(std::vector<T>& messages,
                                      std::size_t limit) noexcept ROUSE_LIFETIMEBOUND {
    return RecvMany<T>(queue(), messages, limit);
  }
  /// The next message, if there is one now. Empty: not yet, or never (see has_ended).
  [[nodiscard]] std::optional<T> try_recv() noexcept {
    for (unsigned attempt = 0;; ++attempt) {
      std::optional<T> message = queue().pop();
      if (message || empty()) return message;
      internal::back_off(attempt);  // for a sender that is about to fill its slot
    }
  }

  /// The channel as a Stream.
  Poll<std::optional<T>> poll_next(Context& cx) { return queue().poll_recv(waiter_, cx); }

  /// Refuses new messages, except reserved ones. What was sent is still received.
  void close() noexcept { queue().close(); }
  /// Whether it was closed or all senders are gone.
  [[nodiscard]] bool is_closed() const noexcept { return queue().is_closed(); }

  /// Whether no message will come any more: it is closed, nothing is reserved, and all that was
  /// sent was received. Once true it stays true.
  [[nodiscard]] bool has_ended() const noexcept { return queue().has_ended(); }

  /// The number of messages in the channel.
  [[nodiscard]] std::size_t size() const noexcept { return queue().size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// The free room now, and the maximum. An unbounded channel grows beyond.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue().free_room(); }
  /// For how many messages there is room when it is empty.
  [[nodiscard]] std::size_t max_capacity() const noexcept { return queue().capacity(); }
  /// How many senders there are now.
  [[nodiscard]] std::size_t sender_count() const noexcept { return queue().senders(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Receiver, "channel", receive, &Receiver::queue_)

 private:
  internal::MessageQueue<T>& queue() const noexcept {
    ROUSE_ASSERT(queue_, "use of a Receiver that was moved from: use the one it went to");
    return *queue_;
  }
  internal::MessageQueue<T>* release() noexcept {
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

  internal::MessageQueue<T>* queue_;
  internal::WaitingReceiver waiter_;
};

}  // namespace rouse::sync
