// MessageQueue<T>: the values of a channel, in the slots of a ChannelCore.
//
// Senders as a group own it, receivers as a group do, and each weak sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/internal/channel_core.hpp"

namespace rouse::internal {

template <class T>
class MessageQueue : public RefCounted<MessageQueue<T>>, public ChannelCore {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "a channel's messages are values");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a channel moves its messages, which must not throw: send a std::unique_ptr<T>, or "
                "give T a noexcept move constructor");
  static_assert(alignof(T) <= 64, "a channel's messages are aligned to 64 bytes at most");

 public:
  explicit MessageQueue(std::size_t capacity)
      : ChannelCore(capacity, sizeof(Slot)), serve_later_(*this) {}
  ~MessageQueue() {
    while (take()) {
    }
  }

  /// Fills the slot that was claimed.
  void push(const Claim& claim, T&& value) noexcept {
    Slot& slot = slot_at(*claim.ring, claim.position);
    internal::construct(&slot.value, std::move(value));
    // ORDER: release; publishes the value.
    slot.full.store(claim.position + 1, memory_order_release);
    filled(claim);
  }

  /// The next message, if it is there. `made_room` is set if senders wait for that: call
  /// `serve_senders` or `serve_senders_soon`.
  std::optional<T> pop(bool& made_room) noexcept {
    if (has_one_receiver()) [[likely]]
      return take(made_room);
    // Moving a message is the only foreign code that runs under a lock.
    const SpinGuard guard(pop_lock);
    return take(made_room);
  }
  std::optional<T> pop() noexcept {
    bool made_room = false;
    std::optional<T> message = pop(made_room);
    if (made_room) serve_senders();
    return message;
  }

  /// Gives the room there is to senders that wait when half of the channel is empty or this poll of
  /// the receiving task ends. To wake a sender for each message would cost more than the message.
  [[gnu::noinline]] void serve_senders_soon(const Context& cx) noexcept {
    const Context* const poll = cx.poll_of_task();
    if (is_half_empty()) return serve_senders();
    if (serving_poll_.load(memory_order_relaxed) == poll) return;  // only this poll sets that
    const Context* serving = nullptr;
    // ORDER: acquire; the poll that had `serve_later_` before is done with it.
    if (!serving_poll_.compare_exchange_strong(serving, poll, memory_order_acquire,
                                               memory_order_relaxed)) {
      // Another poll that is to serve may end before it sees the room made here.
      return serve_senders();
    }
    this->add_ref();
    if (!cx.at_poll_end(serve_later_)) serve_at_poll_end(serve_later_);
  }

  [[gnu::always_inline]] Poll<std::optional<T>> poll_recv(Waiter& waiter, Context& cx) {
    if (waiter.is_fresh() && has_one_receiver()) [[likely]] {
      Ring& ring = reading();
      const std::uint32_t position = head(ring);
      Slot& slot = slot_at(ring, position);
      if (is_full(slot, position)) [[likely]] {
        if (!cx.take_budget()) [[unlikely]]
          return pending;
        auto message = Poll<std::optional<T>>::ready(std::move(slot.value));
        internal::destroy(&slot.value);
        if (emptied(ring)) [[unlikely]]
          serve_senders_soon(cx);
        return message;
      }
    }
    return poll_recv_slowly(waiter, cx);
  }

 private:
  struct Slot {
    atomic<std::uint32_t> full;  // 1 + the position whose value is here; the first member
    union {
      T value;
    };
  };
  static Slot& slot_at(Ring& ring, std::uint32_t position) noexcept {
    return static_cast<Slot*>(ring.slots.read())[position & ring.mask.read()];
  }

  struct ServeLater : PollEnd {
    explicit ServeLater(MessageQueue& self) noexcept : PollEnd(serve_at_poll_end), queue(self) {}
    MessageQueue& queue;
  };

  static bool is_full(const Slot& slot, std::uint32_t position) noexcept {
    // ORDER: acquire; sees the value.
    return slot.full.load(memory_order_acquire) == position + 1;
  }

  [[gnu::noinline]] Poll<std::optional<T>> poll_recv_slowly(Waiter& waiter, Context& cx) {
    if (!cx.take_budget()) return pending;
    const bool was_notified = !waiter.is_fresh();
    if (was_notified) {
      if (!waiter.is_notified() && WaitList::keep_waker(lock, waiter, cx)) return pending;
      waiter.reset();
    }
    // The only receiver has looked there just now (poll_recv), and has no ring to leave: before it
    // waits, wait_for_message looks again.
    bool looks = was_notified || !has_one_receiver() || has_next_ring();
    constexpr unsigned spins = 16;
    for (unsigned attempt = 0; attempt < spins; ++attempt, looks = true) {
      if (looks) {
        bool made_room = false;
        std::optional<T> message = pop(made_room);
        if (made_room) serve_senders_soon(cx);
        if (message) return Poll<std::optional<T>>::ready(std::move(message));
      }
      switch (wait_for_message(waiter, cx)) {
        case Wait::pending:
          return pending;
        case Wait::closed:
          return Poll<std::optional<T>>::ready(std::nullopt);
        case Wait::again:
          spin_hint();
      }
    }
    // A sender was interrupted between its claim and its message: others first.
    if (was_notified) waiter.keep_notified();
    cx.waker().wake_by_ref();
    return pending;
  }

  static void serve_at_poll_end(PollEnd& end) noexcept {
    MessageQueue& self = static_cast<ServeLater&>(end).queue;
    // ORDER: release; done with the entry before another poll takes it.
    self.serving_poll_.store(nullptr, memory_order_release);
    self.serve_senders();
    self.release();
  }

  /// One thread at a time.
  std::optional<T> take(bool& made_room) noexcept {
    do {
      Ring& ring = reading();
      const std::uint32_t position = head(ring);
      Slot& slot = slot_at(ring, position);
      if (!is_full(slot, position)) continue;
      std::optional<T> value(std::move(slot.value));
      internal::destroy(&slot.value);
      made_room = emptied(ring);
      return value;
    } while (next_ring());
    return std::nullopt;
  }
  bool take() noexcept {
    bool made_room = false;
    return take(made_room).has_value();
  }

  ServeLater serve_later_;
  atomic<const Context*> serving_poll_{nullptr};  // which has serve_later_ at its end
};

}  // namespace rouse::internal
