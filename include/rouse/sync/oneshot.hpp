// oneshot<T>(): a channel for one value, from one task to another.
//
//   auto [tx, rx] = sync::oneshot<int>();
//   spawn(compute, std::move(tx));            // there: (void)tx.send(42);
//   std::optional<int> answer = co_await rx;  // nullopt: the sender was dropped without sending
//
// A void channel carries no value: `tx.send()`, and `co_await rx` gives true or false. Sending does
// not wait. One block of memory, which is freed when the value was taken or both sides are gone
// (sync/internal/oneshot_core.hpp).
// Threads: any.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/sync/internal/oneshot_core.hpp"

namespace rouse::internal {

/// What sender and receiver share.
template <class T>
struct OneshotBlock : internal::OneshotCore {
  static_assert(!std::is_reference_v<T>, "oneshot<T&>: use a pointer");
  static_assert(alignof(stored_t<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "oneshot<T> of an over-aligned T: send a std::unique_ptr");

  OneshotBlock() noexcept {}
  ~OneshotBlock() {}
  static void* operator new(std::size_t size) { return internal::allocate_block(size); }
  static void operator delete(void* block, std::size_t size) noexcept {
    internal::free_block(block, size);
  }

  union {
    stored_t<T> value;  // from `send` until it is taken
  };
};

}  // namespace rouse::internal

namespace rouse::sync {

template <class T>
class OneshotSender;
template <class T>
class OneshotReceiver;

/// A new channel. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<OneshotSender<T>, OneshotReceiver<T>> oneshot() {
  auto* block = new internal::OneshotBlock<T>();
  return std::pair<OneshotSender<T>, OneshotReceiver<T>>(OneshotSender<T>(block),
                                                         OneshotReceiver<T>(block));
}

/// Dropping it without a `send` tells the receiver that no value will come.
template <class T>
class OneshotSender {
 public:
  class Closed;

  explicit OneshotSender(internal::OneshotBlock<T>* block) noexcept : block_(block) {}
  OneshotSender(OneshotSender&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  OneshotSender& operator=(OneshotSender&& other) noexcept {
    OneshotSender old(std::move(*this));
    block_ = std::exchange(other.block_, nullptr);
    return *this;
  }
  ~OneshotSender() {
    if (block_) end();
  }

  /// Sends the value (none if T is void), once. A value that was sent may still be dropped unseen
  /// together with the receiver.
  /// Errors: errc::broken_pipe if the receiver has closed or is gone; an rvalue of a T whose move
  /// does not throw is then as it was. Throws what constructing the T throws; then nothing was
  /// sent.
  template <class... Args>
  Result<void> send(Args&&... value) {
    static_assert(std::is_constructible_v<stored_t<T>, Args&&...> && sizeof...(Args) <= 1,
                  "send(v) needs a value that a T can be made of, and none if T is void");
    ROUSE_ASSERT(block_, "send() of a oneshot sender that has sent its value, or was moved from");
    internal::construct(&block_->value, std::forward<Args>(value)...);
    if (block_->publish()) {
      block_ = nullptr;
      return {};
    }
    (internal::give_back(block_->value, std::forward<Args>(value)), ...);
    internal::destroy(&block_->value);
    end();
    return std::errc::broken_pipe;
  }

  /// Whether the receiver has closed or is gone. Also true after `send`.
  [[nodiscard]] bool is_closed() const noexcept { return !block_ || block_->is_closed(); }

  /// Completes when the receiver closes or is destroyed: the value need not be computed any more.
  /// Borrows the sender.
  /// Cancel safety: dropping it loses nothing.
  /// Threads: one such future at a time.
  [[nodiscard]] Closed closed() noexcept { return Closed(*this); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(OneshotSender, "closed", notify, &OneshotSender::block_)

 private:
  void end() noexcept {
    internal::OneshotBlock<T>* block = std::exchange(block_, nullptr);
    if (block->end_sender()) delete block;
  }

  internal::OneshotBlock<T>* block_;  // null: sent, or moved from
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] OneshotSender<T>::
    Closed {
 public:
  using Output = void;

  explicit Closed(OneshotSender& sender) noexcept : sender_(&sender) {}
  Closed(Closed&& other) noexcept : sender_(std::exchange(other.sender_, nullptr)) {}
  ~Closed() {
    if (sender_ && sender_->block_) sender_->block_->stop_waiting_for_close();
  }

  Poll<> poll(Context& cx) {
    if (!cx.take_budget()) return pending;
    if (sender_->block_ && !sender_->block_->poll_closed(cx)) return pending;
    return Poll<>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Closed, nullptr, one, &Closed::sender_)

 private:
  OneshotSender* sender_;
};

/// A future of the value. It may be moved at any time, even after it was polled. Completes with the
/// value, or with an empty optional once none can come any more: the sender was dropped without
/// sending, or `close` was called first. Polled again after that, it gives an empty optional.
/// Cancel safety: dropping it drops the value too: see `recv`.
template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] OneshotReceiver {
 public:
  using Output = std::conditional_t<std::is_void_v<T>, bool, std::optional<stored_t<T>>>;
  using Item = stored_t<T>;
  class Recv;

  explicit OneshotReceiver(internal::OneshotBlock<T>* block) noexcept : block_(block) {}
  OneshotReceiver(OneshotReceiver&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  OneshotReceiver& operator=(OneshotReceiver&& other) noexcept {
    OneshotReceiver old(std::move(*this));
    block_ = std::exchange(other.block_, nullptr);
    return *this;
  }
  ~OneshotReceiver() {
    if (block_) end();
  }

  Poll<Output> poll(Context& cx) {
    if (!block_) return Poll<Output>::ready(Output());
    if (!cx.take_budget()) return pending;
    const Received received = block_->poll_received(cx);
    if (received == Received::pending) return pending;
    return Poll<Output>::ready(take(received));
  }
  /// The same as a stream of at most one item.
  Poll<Output> poll_next(Context& cx)
    requires(!std::is_void_v<T>)
  {
    return poll(cx);
  }

  /// The same as a future that borrows the receiver, for a `select`.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Recv recv() noexcept { return Recv(*this); }

  /// The value, if there is one. Empty: not yet, or never (see has_ended).
  Output try_recv() {
    if (!block_) return Output();
    const Received received = block_->try_receive();
    return received == Received::pending ? Output() : take(received);
  }

  /// Whether there is no value to receive and none will come: it was received, the sender was
  /// dropped without sending, or `close` was called first.
  [[nodiscard]] bool has_ended() const noexcept {
    if (!block_) return true;
    const Received received = block_->try_receive();
    return received == Received::sender_ended || received == Received::closed;
  }

  /// From now on `send` fails. A value that was sent before can still be received.
  void close() noexcept {
    if (block_) block_->close();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(OneshotReceiver, "oneshot", receive, &OneshotReceiver::block_)

 private:
  using Received = internal::OneshotCore::Received;

  /// There is a value, or none will come.
  Output take(Received received) {
    if (received == Received::closed) return Output();
    const internal::Box<internal::OneshotBlock<T>> block(std::exchange(block_, nullptr));
    if (received == Received::sender_ended) return Output();
    if constexpr (std::is_void_v<T>) {
      return true;
    } else {
      const Destroyed taken(block->value);
      return Output(std::move(block->value));
    }
  }
  struct Destroyed {
    explicit Destroyed(Item& item) noexcept : value(item) {}
    ~Destroyed() { internal::destroy(&value); }
    Item& value;
  };

  void end() noexcept {
    internal::OneshotBlock<T>* block = std::exchange(block_, nullptr);
    bool value_left = false;
    if (!block->end_receiver(value_left)) return;
    if (value_left) internal::destroy(&block->value);
    delete block;
  }

  internal::OneshotBlock<T>* block_;  // null: received, or moved from
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] OneshotReceiver<T>::
    Recv {
 public:
  using Output = typename OneshotReceiver::Output;

  explicit Recv(OneshotReceiver& receiver) noexcept : receiver_(&receiver) {}
  Recv(Recv&& other) noexcept : receiver_(std::exchange(other.receiver_, nullptr)) {}
  ~Recv() {
    if (receiver_ && receiver_->block_) receiver_->block_->stop_receiving();
  }

  Poll<Output> poll(Context& cx) { return receiver_->poll(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Recv, nullptr, one, &Recv::receiver_)

 private:
  OneshotReceiver* receiver_;
};

}  // namespace rouse::sync
