// broadcast<T>(capacity): every receiver gets every value that is sent while it exists. The channel
// keeps the last `capacity` values; a slower receiver misses the oldest, and learns how many.
//
//   auto [tx, rx] = sync::broadcast<Event>(64);
//   (void)tx.send(event);                      // any thread, does not wait
//   while (auto event = co_await rx.recv()) {  // ends when all senders are gone
//     if (event.lagged() > 0) resync();        // so many were missed before this one
//     handle(*event);
//   }
//
// A value is copied to each receiver, moved to the last one, and freed when all have received it or
// it is overwritten. One block of memory per value. Both sides may be copied: a copy of a receiver
// gets what the original would get.
// Threads: any, but one thread at a time per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/closed.hpp"
#include "rouse/sync/internal/broadcast_core.hpp"

namespace rouse::sync {

/// A std::optional of the value that also knows how many were missed before it.
template <class T>
class Received : public std::optional<T> {
 public:
  Received() noexcept = default;
  template <class U>
  Received(std::uint64_t lagged, U&& value)
      : std::optional<T>(std::forward<U>(value)), lagged_(lagged) {}

  /// How many values were overwritten before this one was received.
  [[nodiscard]] std::uint64_t lagged() const noexcept { return lagged_; }

 private:
  std::uint64_t lagged_ = 0;
};

}  // namespace rouse::sync

namespace rouse::internal {

/// A value that was sent, shared by the receivers that have not seen it.
template <class T>
struct BroadcastValue : internal::BroadcastNode {
  static_assert(std::is_object_v<T> && std::is_copy_constructible_v<T>,
                "broadcast<T> copies each value to each receiver: send a std::shared_ptr");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "broadcast<T> of an over-aligned T: send a std::shared_ptr");

  template <class... Args>
  explicit BroadcastValue(Args&&... args)
      : internal::BroadcastNode([](internal::BroadcastNode& node) noexcept {
          delete static_cast<BroadcastValue*>(&node);
        }),
        value(std::forward<Args>(args)...) {}
  static void* operator new(std::size_t size) { return internal::allocate_block(size); }
  static void operator delete(void* block, std::size_t size) noexcept {
    internal::free_block(block, size);
  }

  T value;
};

}  // namespace rouse::internal

namespace rouse::sync {

template <class T>
class BroadcastReceiver;

/// Copies send to the same receivers. The channel is closed when the last sender is destroyed.
template <class T>
class BroadcastSender {
 public:
  explicit BroadcastSender(RefPtr<internal::BroadcastCore> counted) noexcept
      : core_(std::move(counted)) {}
  BroadcastSender(const BroadcastSender& other) noexcept : core_(other.core_) {
    if (core_) core_->add_sender();
  }
  BroadcastSender(BroadcastSender&&) noexcept = default;
  BroadcastSender& operator=(BroadcastSender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~BroadcastSender() {
    if (core_) core_->remove_sender();
  }

  /// Sends to all current receivers; returns their number.
  /// Errors: errc::broken_pipe if there is no receiver; an rvalue of a T whose move does not throw
  /// is then as it was.
  template <class U = T>
  Result<std::size_t> send(U&& value) const {
    if (core().receivers() == 0) return std::errc::broken_pipe;
    auto* const made = new internal::BroadcastValue<T>(std::forward<U>(value));
    auto node = RefPtr<internal::BroadcastNode>::adopt(made);
    const std::size_t receivers = core().send(node);
    if (receivers != 0) return receivers;
    internal::give_back(made->value, std::forward<U>(value));  // the last one left just now
    return std::errc::broken_pipe;
  }

  /// A receiver of everything sent from now on.
  [[nodiscard]] BroadcastReceiver<T> subscribe() const noexcept {
    return BroadcastReceiver<T>(RefPtr<internal::BroadcastCore>::share(&core()));
  }
  /// How many receivers there are now.
  [[nodiscard]] std::size_t receiver_count() const noexcept { return core().receivers(); }
  /// Completes when there is no receiver; `subscribe` may create one later. Borrows the sender.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Closed<internal::BroadcastCore> closed() const noexcept {
    return Closed<internal::BroadcastCore>(core());
  }
  /// Another sender, as a copy.
  [[nodiscard]] BroadcastSender clone() const noexcept { return *this; }

 private:
  internal::BroadcastCore& core() const noexcept {
    ROUSE_ASSERT(core_, "use of a broadcast sender that was moved from: use the one it went to");
    return *core_;
  }

  RefPtr<internal::BroadcastCore> core_;
};

/// A stream of the values. It may be moved at any time.
template <class T>
class BroadcastReceiver {
 public:
  using Item = T;
  class Recv;

  /// Receives what is sent from now on.
  explicit BroadcastReceiver(RefPtr<internal::BroadcastCore> core) noexcept
      : core_(std::move(core)), next_(core_->add_receiver()) {}
  BroadcastReceiver(const BroadcastReceiver& other) noexcept
      : core_(other.core_), next_(other.next_), missed_(other.missed_) {
    if (core_) core_->copy_receiver(next_);
  }
  BroadcastReceiver(BroadcastReceiver&& other) noexcept
      : next_(other.next_), missed_(other.missed_) {
    other.leave();
    core_ = std::move(other.core_);
  }
  BroadcastReceiver& operator=(BroadcastReceiver other) noexcept {
    leave();
    std::swap(core_, other.core_);
    std::swap(next_, other.next_);
    missed_ = other.missed_;
    return *this;
  }
  ~BroadcastReceiver() {
    if (!core_) return;
    stop_waiting();
    core_->remove_receiver(next_);
  }

  /// Completes with the next value, and how many were missed before it; with an empty optional once
  /// all senders are gone and everything was received. Borrows the receiver.
  /// Cancel safety: dropping it loses nothing.
  /// Threads: one such future at a time.
  /// Errors: throws what copying the T throws; that value is lost.
  [[nodiscard]] Recv recv() noexcept { return Recv(*this); }
  /// The next value, if there is one, and how many were missed before it. Empty: not yet, or never
  /// (see has_ended).
  Received<T> try_recv() {
    std::uint64_t missed = 0;
    const RefPtr<internal::BroadcastNode> node = core().take(next_, missed);
    if (!node) return Received<T>();
    missed_ += missed;
    auto& value = static_cast<internal::BroadcastValue<T>&>(*node).value;
    if (node->is_sole()) return Received<T>(missed, std::move(value));
    return Received<T>(missed, std::as_const(value));
  }
  /// As a stream. `missed` says how many values it missed.
  Poll<std::optional<T>> poll_next(Context& cx) {
    if (!is_receivable(cx)) return pending;
    return Poll<std::optional<T>>::ready(std::optional<T>(try_recv()));
  }

  /// Another receiver, of everything sent from now on.
  [[nodiscard]] BroadcastReceiver resubscribe() const noexcept {
    return BroadcastReceiver(RefPtr<internal::BroadcastCore>::share(&core()));
  }
  /// How many values it has missed in total.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }
  /// How many values it could receive now.
  [[nodiscard]] std::size_t size() const noexcept { return core().size(next_); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Whether all senders are gone. There may be values left.
  [[nodiscard]] bool is_closed() const noexcept { return core().is_closed(); }
  /// Whether all senders are gone and everything was received. Once true it stays true.
  [[nodiscard]] bool has_ended() const noexcept { return is_closed() && empty(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BroadcastReceiver, "broadcast", receive, &BroadcastReceiver::core_)

 private:
  struct Waiting : internal::Waiter {};

  internal::BroadcastCore& core() const noexcept {
    ROUSE_ASSERT(core_, "use of a broadcast receiver that was moved from: use the one it went to");
    return *core_;
  }
  bool is_receivable(Context& cx) {
    return cx.take_budget() && core().poll_receivable(waiter_, next_, cx);
  }
  void stop_waiting() noexcept {
    if (core_) core_->stop_receiving(waiter_);
  }
  /// Wakes a waiter of this object, which must poll it at its new place.
  void leave() noexcept {
    if (core_) core_->move_receiver(waiter_);
  }

  RefPtr<internal::BroadcastCore> core_;
  internal::BroadcastCore::Position next_;
  std::uint64_t missed_ = 0;
  Waiting waiter_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] BroadcastReceiver<T>::
    Recv {
 public:
  using Output = Received<T>;

  explicit Recv(BroadcastReceiver& receiver) noexcept : receiver_(&receiver) {}
  Recv(Recv&& other) noexcept : receiver_(std::exchange(other.receiver_, nullptr)) {}
  ~Recv() {
    if (receiver_) receiver_->stop_waiting();
  }

  Poll<Output> poll(Context& cx) {
    if (!receiver_->is_receivable(cx)) return pending;
    return Poll<Output>::ready(receiver_->try_recv());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Recv, nullptr, one, &Recv::receiver_)

 private:
  BroadcastReceiver* receiver_;
};

/// A new channel that keeps the last `capacity` values, at least 1. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<BroadcastSender<T>, BroadcastReceiver<T>> broadcast(std::size_t capacity) {
  auto core = make_ref<internal::BroadcastCore>(capacity);
  BroadcastReceiver<T> receiver(core);
  return std::pair<BroadcastSender<T>, BroadcastReceiver<T>>(BroadcastSender<T>(std::move(core)),
                                                             std::move(receiver));
}

}  // namespace rouse::sync
