// Sender, UnboundedSender, WeakSender and SendPermit: the sending side of a channel. See
// sync/channel.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/closed.hpp"
#include "rouse/sync/internal/message_queue.hpp"

namespace rouse::sync {

/// Common to all senders: one of the channel's senders; may be copied.
template <class T>
class SenderHandle {
 public:
  /// Takes over a counted reference.
  explicit SenderHandle(internal::MessageQueue<T>& counted) noexcept : queue_(&counted) {}
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

  /// What sender and receiver share. For the library.
  [[nodiscard]] internal::MessageQueue<T>& queue() const noexcept {
    ROUSE_ASSERT(queue_, "use of a Sender that was moved from: use the one it went to");
    return *queue_;
  }
  explicit operator bool() const noexcept { return queue_ != nullptr; }

  /// Whether nobody receives any more.
  [[nodiscard]] bool is_closed() const noexcept { return queue().is_closed(); }
  /// Waits until nobody receives any more.
  [[nodiscard]] Closed<internal::ChannelCore> closed() const noexcept ROUSE_LIFETIMEBOUND {
    return Closed<internal::ChannelCore>(queue());
  }
  /// Whether both send to the same receivers.
  [[nodiscard]] bool same_channel(const SenderHandle& other) const noexcept {
    return queue_ == other.queue_;
  }
  /// How many senders there are.
  [[nodiscard]] std::size_t strong_count() const noexcept { return queue().senders(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SenderHandle, "channel", send, &SenderHandle::queue_)

 private:
  internal::MessageQueue<T>* queue_;
};

/// Room for one message in a bounded channel, or several (reserve_many), given back if it is
/// destroyed unused. Converts to false if it has no room: the channel is closed (or, from
/// `try_reserve`, full), or all was used. Owns a sender, so it keeps the channel open.
template <class T>
class [[nodiscard("the room is given back at once: keep the permit in a variable")]] SendPermit {
 public:
  SendPermit() noexcept = default;
  /// For a reservation that was made.
  explicit SendPermit(SenderHandle<T> sender, std::uint32_t n = 1) noexcept
      : sender_(std::move(sender)), left_(n) {}
  SendPermit(SendPermit&& other) noexcept
      : sender_(std::exchange(other.sender_, std::nullopt)), left_(std::exchange(other.left_, 0)) {}
  SendPermit& operator=(SendPermit other) noexcept {
    std::swap(sender_, other.sender_);
    std::swap(left_, other.left_);
    return *this;
  }
  ~SendPermit() {
    if (sender_) sender_->queue().unreserve(left_);
  }

  explicit operator bool() const noexcept { return left_ != 0; }
  /// For how many messages it has room.
  [[nodiscard]] std::size_t size() const noexcept { return left_; }
  [[nodiscard]] bool empty() const noexcept { return left_ == 0; }

  /// Sends at once, even if the channel was closed meanwhile.
  /// Errors: errc::broken_pipe if the permit has no room; `value` is then left untouched.
  Result<void> send(T&& value) noexcept {
    if (!sender_) return std::errc::broken_pipe;
    internal::MessageQueue<T>& queue = sender_->queue();
    queue.push(queue.claim_reserved(), std::move(value));
    if (--left_ == 0) sender_.reset();
    return {};
  }
  Result<void> send(const T& value) { return send(T(value)); }

 private:
  std::optional<SenderHandle<T>> sender_;  // as long as there is room
  std::uint32_t left_ = 0;
};

/// Completes when the message is in the channel.
/// Cancel safety: if dropped before, its message and its place in the queue are lost; take
/// `message` first.
/// Threads: any.
/// Errors: errc::broken_pipe if nobody receives any more; the message is then in `message`.
template <class T>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Send {
 public:
  using Output = Result<void>;
  static constexpr bool polled_out_of_line = !std::is_trivially_copyable_v<T>;

  Send(internal::MessageQueue<T>& queue, T&& value) noexcept
      : queue_(&queue), value_(std::move(value)) {}
  Send(Send&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)),
        sender_(std::move(other.sender_)),
        value_(std::move(other.value_)) {}
  ~Send() {
    if (!sender_.is_fresh()) queue_->leave(sender_);
  }

  [[gnu::always_inline]] Poll<Result<void>> poll(Context& cx) {
    ROUSE_ASSERT(queue_, "send() was polled again after it was ready, or moved from: send another");
    if (!cx.take_budget()) [[unlikely]]
      return pending;
    if (!sender_.is_fresh()) return wait(cx);
    const internal::ChannelCore::Claim claim = queue_->claim_quickly();
    if (claim.ring == nullptr) [[unlikely]]
      return wait(cx);
    std::exchange(queue_, nullptr)->push(claim, std::move(value_));
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// The message, as long as it was not sent: move it out after an error, or to give up.
  [[nodiscard]] T& message() noexcept ROUSE_LIFETIMEBOUND { return value_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Send, "channel", send, &Send::queue_)

 private:
  [[gnu::noinline]] Poll<Result<void>> wait(Context& cx) {
    internal::ChannelCore::Claim claim;
    if (sender_.is_fresh() && queue_->claim(claim) == internal::ChannelCore::Room::taken) {
      std::exchange(queue_, nullptr)->push(claim, std::move(value_));
      return Poll<Result<void>>::ready(Result<void>());
    }
    return queue_->poll_room(sender_, cx, &claim).map([&](bool has_room) -> Result<void> {
      internal::MessageQueue<T>& queue = *std::exchange(queue_, nullptr);
      if (!has_room) return std::errc::broken_pipe;
      queue.push(claim.ring != nullptr ? claim : queue.claim_reserved(), std::move(value_));
      return {};
    });
  }

  internal::MessageQueue<T>* queue_;
  internal::WaitingSender sender_;
  T value_;
};

/// Completes with room for a message, or for several at once, or with an empty permit if nobody
/// receives any more. `Handle` is a pointer to the sender, or owns it.
/// Cancel safety: dropping it gives up its place in the queue.
/// Threads: any.
/// Errors: reserve_many throws std::bad_alloc if there is no memory for that many messages.
template <class T, class Handle = const SenderHandle<T>*>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Reserve {
 public:
  using Output = SendPermit<T>;

  explicit Reserve(Handle sender, std::uint32_t n = 1) noexcept
      : handle_(std::move(sender)), sender_(n) {}
  Reserve(Reserve&&) noexcept = default;
  ~Reserve() {
    if (!sender_.is_fresh() && *handle_) (*handle_).queue().leave(sender_);
  }

  Poll<SendPermit<T>> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    internal::MessageQueue<T>& queue = (*handle_).queue();
    const std::uint32_t n = sender_.needed;
    if (sender_.is_fresh() && queue.reserve(n) == internal::ChannelCore::Room::taken)
      return Poll<SendPermit<T>>::ready(SendPermit<T>(std::move(*handle_), n));
    return queue.poll_room(sender_, cx).map([this, n](bool reserved) {
      return reserved ? SendPermit<T>(std::move(*handle_), n) : SendPermit<T>();
    });
  }
  /// A plain pointer does not keep the sender alive.
  [[nodiscard]] bool borrows() const noexcept { return std::is_pointer_v<Handle>; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Reserve, nullptr, one, &Reserve::handle_)

 private:
  Handle handle_;                    // one that owns the sender gives it to the permit
  internal::WaitingForMany sender_;  // destroyed first: it may be in the channel's queue
};

/// Refers to a channel without keeping it open.
template <class Strong>
class WeakSender;

/// The sender of a bounded channel.
template <class T>
class Sender : public SenderHandle<T> {
 public:
  using Message = T;
  using SenderHandle<T>::SenderHandle;

  /// Waits for room. See Send.
  [[nodiscard]] Send<T> send(T value) const noexcept ROUSE_LIFETIMEBOUND {
    return Send<T>(this->queue(), std::move(value));
  }
  /// Sends if there is room and nobody waits for it; otherwise `value` is left untouched.
  /// Errors: errc::resource_unavailable_try_again (full), errc::broken_pipe (nobody receives any
  /// more).
  Result<void> try_send(T&& value) const noexcept {
    internal::ChannelCore::Claim claim;
    switch (this->queue().claim(claim)) {
      case internal::ChannelCore::Room::taken:
        break;
      case internal::ChannelCore::Room::full:
        return std::errc::resource_unavailable_try_again;
      case internal::ChannelCore::Room::closed:
        return std::errc::broken_pipe;
    }
    this->queue().push(claim, std::move(value));
    return {};
  }
  Result<void> try_send(const T& value) const { return try_send(T(value)); }

  /// Waits for room, to be used later. See Reserve.
  [[nodiscard]] Reserve<T> reserve() const noexcept ROUSE_LIFETIMEBOUND { return Reserve<T>(this); }
  /// The same for `n` messages at once; others wait behind it. `n` is at least 1 and at most
  /// max_capacity().
  [[nodiscard]] Reserve<T> reserve_many(std::size_t n) const noexcept ROUSE_LIFETIMEBOUND {
    return Reserve<T>(this, checked(n));
  }
  /// As `reserve`; the future owns a sender, too, so it may be spawned.
  [[nodiscard]] Reserve<T, internal::Maybe<SenderHandle<T>>> reserve_owned() const noexcept {
    using Handle = internal::Maybe<SenderHandle<T>>;
    return Reserve<T, Handle>(Handle(std::in_place, *this));
  }
  /// Room, if there is some and nobody waits for it.
  [[nodiscard]] SendPermit<T> try_reserve() const noexcept { return try_reserve_many(1); }
  /// The same for `n` messages at once.
  [[nodiscard]] SendPermit<T> try_reserve_many(std::size_t n) const noexcept {
    if (this->queue().reserve(checked(n)) != internal::ChannelCore::Room::taken)
      return SendPermit<T>();
    return SendPermit<T>(*this, static_cast<std::uint32_t>(n));
  }

  /// The free room now, and the maximum.
  [[nodiscard]] std::size_t capacity() const noexcept { return this->queue().free_room(); }
  /// For how many messages there is room when it is empty.
  [[nodiscard]] std::size_t max_capacity() const noexcept { return this->queue().capacity(); }

  /// A handle that does not keep the channel open.
  [[nodiscard]] WeakSender<Sender> downgrade() const noexcept { return WeakSender<Sender>(*this); }
  /// Another sender, as a copy.
  [[nodiscard]] Sender clone() const noexcept { return *this; }

 private:
  std::uint32_t checked(std::size_t n) const noexcept {
    ROUSE_ASSERT(n > 0 && n <= max_capacity(),
                 "room for none, or for more than the channel ever has: reserve_many(n) needs "
                 "1 <= n <= max_capacity()");
    return static_cast<std::uint32_t>(n);
  }
};

/// The result of a send into an unbounded channel: already complete, but it may be awaited.
class [[nodiscard]] Sent : public Result<void> {
 public:
  using Output = Result<void>;
  using Result<void>::Result;
  Poll<Result<void>> poll(Context&) const { return Poll<Result<void>>::ready(*this); }
};

/// The sender of an unbounded channel.
template <class T>
class UnboundedSender : public SenderHandle<T> {
 public:
  using Message = T;
  using SenderHandle<T>::SenderHandle;

  /// Sends at once.
  /// Errors: errc::broken_pipe if nobody receives any more. Throws std::bad_alloc if there is no
  /// memory for more messages; the channel is then unchanged. Both leave `value` untouched.
  Sent send(T&& value) const {
    internal::ChannelCore::Claim claim;
    if (this->queue().claim(claim) != internal::ChannelCore::Room::taken)
      return std::make_error_code(std::errc::broken_pipe);
    this->queue().push(claim, std::move(value));
    return {};
  }
  Sent send(const T& value) const { return send(T(value)); }

  /// The same: there is always room.
  Sent try_send(T&& value) const { return send(std::move(value)); }
  Sent try_send(const T& value) const { return send(T(value)); }

  /// A handle that does not keep the channel open.
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

  /// A sender, if there is still another one.
  [[nodiscard]] std::optional<Strong> upgrade() const noexcept {
    ROUSE_ASSERT(queue_, "use of a WeakSender that was moved from: use the one it went to");
    if (!queue_->try_add_sender()) return std::nullopt;
    return std::optional<Strong>(std::in_place, *queue_);
  }

 private:
  using Queue = internal::MessageQueue<typename Strong::Message>;
  RefPtr<Queue> queue_;
};

}  // namespace rouse::sync
