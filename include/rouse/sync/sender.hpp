// Sender, UnboundedSender, WeakSender and SendPermit: the side of a channel that sends. See
// sync/channel.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/closed.hpp"
#include "rouse/sync/message_queue.hpp"

namespace rouse::sync {

/// What all that may send share: one of the channel's senders, which may be copied.
template <class T>
class SenderHandle {
 public:
  /// Takes over one that was counted.
  explicit SenderHandle(MessageQueue<T>& counted) noexcept : queue_(&counted) {}
  SenderHandle(const SenderHandle& other) noexcept : queue_(other.queue_) {
    if (queue_) queue_->add_sender();
  }
  SenderHandle(SenderHandle&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
  SenderHandle& operator=(SenderHandle other) noexcept {
    std::swap(queue_, other.queue_);
    return *this;
  }
  ~SenderHandle() {
    if (queue_ && queue_->drop_sender()) queue_->release();
  }

  [[nodiscard]] MessageQueue<T>& queue() const noexcept {
    ROUSE_ASSERT(queue_, "use of a Sender that was moved from: use the one it went to");
    return *queue_;
  }
  explicit operator bool() const noexcept { return queue_ != nullptr; }

  [[nodiscard]] bool is_closed() const noexcept { return queue().is_closed(); }
  /// Waits until nobody receives any more.
  [[nodiscard]] Closed<ChannelCore> closed() const noexcept ROUSE_LIFETIMEBOUND {
    return Closed<ChannelCore>(queue());
  }
  [[nodiscard]] bool same_channel(const SenderHandle& other) const noexcept {
    return queue_ == other.queue_;
  }
  /// How many senders there are.
  [[nodiscard]] std::size_t strong_count() const noexcept { return queue().senders(); }

 private:
  MessageQueue<T>* queue_;
};

/// Room for one message in a bounded channel, given back when this ends unused. False: it has none,
/// because the channel is closed (or, from `try_reserve`, full), or it was used.
template <class T>
class [[nodiscard("the room is given back at once: keep the permit in a variable")]] SendPermit {
 public:
  SendPermit() noexcept = default;
  /// Of a reservation that was made.
  explicit SendPermit(SenderHandle<T> sender) noexcept : sender_(std::move(sender)) {}
  SendPermit(SendPermit&& other) noexcept : sender_(std::exchange(other.sender_, std::nullopt)) {}
  SendPermit& operator=(SendPermit other) noexcept {
    std::swap(sender_, other.sender_);
    return *this;
  }
  ~SendPermit() {
    if (sender_) sender_->queue().unreserve();
  }

  explicit operator bool() const noexcept { return sender_.has_value(); }

  /// Sends at once, also if the channel was closed meanwhile. A permit without room fails with
  /// errc::broken_pipe.
  Result<void> send(T value) noexcept {
    if (!sender_) return std::errc::broken_pipe;
    MessageQueue<T>& queue = sender_->queue();
    queue.push(queue.claim_reserved(), std::move(value));
    sender_.reset();
    return {};
  }

 private:
  std::optional<SenderHandle<T>> sender_;
};

/// Completes when the message is in the channel, or fails with errc::broken_pipe because nobody
/// receives any more; the message is lost then. Dropping it before loses its message and its place
/// in the queue. Any thread.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Send {
 public:
  using Output = Result<void>;

  Send(MessageQueue<T>& queue, T&& value) noexcept : queue_(&queue), value_(std::move(value)) {}
  Send(Send&&) noexcept = default;
  ~Send() {
    if (!sender_.is_fresh()) queue_->leave(sender_);
  }

  [[gnu::always_inline]] Poll<Result<void>> poll(Context& cx) {
    ROUSE_ASSERT(queue_, "send() was polled again after it was ready: send another message");
    if (!cx.take_budget()) [[unlikely]]
      return pending;
    if (!sender_.is_fresh()) return wait(cx);
    const ChannelCore::Claim claim = queue_->claim_quickly();
    if (claim.ring == nullptr) [[unlikely]]
      return wait(cx);
    std::exchange(queue_, nullptr)->push(claim, std::move(value_));
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  [[gnu::noinline]] Poll<Result<void>> wait(Context& cx) {
    ChannelCore::Claim claim;
    if (sender_.is_fresh() && queue_->claim(claim) == ChannelCore::Room::taken) {
      std::exchange(queue_, nullptr)->push(claim, std::move(value_));
      return Poll<Result<void>>::ready(Result<void>());
    }
    return queue_->poll_room(sender_, cx).map([this](bool reserved) -> Result<void> {
      MessageQueue<T>& queue = *std::exchange(queue_, nullptr);
      if (!reserved) return std::errc::broken_pipe;
      queue.push(queue.claim_reserved(), std::move(value_));
      return {};
    });
  }

  MessageQueue<T>* queue_;
  WaitingSender sender_;
  T value_;
};

/// Completes with room for a message, or an empty permit if nobody receives any more. Dropping it
/// gives up its place in the queue. Any thread.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Reserve {
 public:
  using Output = SendPermit<T>;

  explicit Reserve(const SenderHandle<T>& sender) noexcept : handle_(&sender) {}
  Reserve(Reserve&&) noexcept = default;
  ~Reserve() {
    if (!sender_.is_fresh()) handle_->queue().leave(sender_);
  }

  Poll<SendPermit<T>> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    MessageQueue<T>& queue = handle_->queue();
    if (sender_.is_fresh() && queue.reserve() == ChannelCore::Room::taken)
      return Poll<SendPermit<T>>::ready(SendPermit<T>(*handle_));
    return queue.poll_room(sender_, cx).map([this](bool reserved) {
      return reserved ? SendPermit<T>(*handle_) : SendPermit<T>();
    });
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  const SenderHandle<T>* handle_;
  WaitingSender sender_;
};

/// Sends into a channel that it does not keep open.
template <class Strong>
class WeakSender;

/// Of a bounded channel.
template <class T>
class Sender : public SenderHandle<T> {
 public:
  using Message = T;
  using SenderHandle<T>::SenderHandle;

  /// Waits for room. See Send.
  [[nodiscard]] Send<T> send(T value) const noexcept ROUSE_LIFETIMEBOUND {
    return Send<T>(this->queue(), std::move(value));
  }
  /// Sends if there is room and nobody waits for it; else `value` stays as it is. Errors:
  /// errc::resource_unavailable_try_again (full), errc::broken_pipe (nobody receives any more).
  Result<void> try_send(T&& value) const noexcept {
    ChannelCore::Claim claim;
    switch (this->queue().claim(claim)) {
      case ChannelCore::Room::taken:
        break;
      case ChannelCore::Room::full:
        return std::errc::resource_unavailable_try_again;
      case ChannelCore::Room::closed:
        return std::errc::broken_pipe;
    }
    this->queue().push(claim, std::move(value));
    return {};
  }
  Result<void> try_send(const T& value) const { return try_send(T(value)); }

  /// Waits for room, to be used later. See Reserve.
  [[nodiscard]] Reserve<T> reserve() const noexcept ROUSE_LIFETIMEBOUND {
    return Reserve<T>(*this);
  }
  /// Room, if it is there and nobody waits for it.
  [[nodiscard]] SendPermit<T> try_reserve() const noexcept {
    if (this->queue().reserve() != ChannelCore::Room::taken) return SendPermit<T>();
    return SendPermit<T>(*this);
  }

  /// For how many messages there is room now, and at most.
  [[nodiscard]] std::size_t capacity() const noexcept { return this->queue().free_room(); }
  [[nodiscard]] std::size_t max_capacity() const noexcept { return this->queue().capacity(); }

  [[nodiscard]] WeakSender<Sender> downgrade() const noexcept { return WeakSender<Sender>(*this); }
  /// Another sender, as a copy.
  [[nodiscard]] Sender clone() const noexcept { return *this; }
};

/// What a send into an unbounded channel gave: it is done already, and may be awaited all the same.
class [[nodiscard]] Sent : public Result<void> {
 public:
  using Output = Result<void>;
  using Result<void>::Result;
  Poll<Result<void>> poll(Context&) const { return Poll<Result<void>>::ready(*this); }
};

/// Of an unbounded channel.
template <class T>
class UnboundedSender : public SenderHandle<T> {
 public:
  using Message = T;
  using SenderHandle<T>::SenderHandle;

  /// Sends at once. Fails with errc::broken_pipe if nobody receives any more. Throws std::bad_alloc
  /// if there is no memory for more messages; the channel is as before then.
  Sent send(T value) const {
    ChannelCore::Claim claim;
    if (this->queue().claim(claim) != ChannelCore::Room::taken)
      return std::make_error_code(std::errc::broken_pipe);
    this->queue().push(claim, std::move(value));
    return {};
  }

  /// The same: there always is room.
  Sent try_send(T value) const { return send(std::move(value)); }

  [[nodiscard]] WeakSender<UnboundedSender> downgrade() const noexcept {
    return WeakSender<UnboundedSender>(*this);
  }
  /// Another sender, as a copy.
  [[nodiscard]] UnboundedSender clone() const noexcept { return *this; }
};

template <class Strong>
class WeakSender {
 public:
  explicit WeakSender(const Strong& sender) noexcept
      : queue_(RefPtr<Queue>::share(&sender.queue())) {}

  /// A sender, if there still is another one.
  [[nodiscard]] std::optional<Strong> upgrade() const noexcept {
    ROUSE_ASSERT(queue_, "use of a WeakSender that was moved from: use the one it went to");
    if (!queue_->try_add_sender()) return std::nullopt;
    return std::optional<Strong>(std::in_place, *queue_);
  }

 private:
  using Queue = MessageQueue<typename Strong::Message>;
  RefPtr<Queue> queue_;
};

}  // namespace rouse::sync
