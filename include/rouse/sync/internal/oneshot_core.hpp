// OneshotCore: what the two sides of a oneshot channel share but for the value: who is still there,
// who waits, and which of them frees the block. sync/oneshot.hpp is what programs use.
//
// All is in one word, and each side changes it once on its normal way: the sender when it ends, the
// receiver when it begins to wait. Whoever ends second owns the block alone, and needs no more than
// a look to know it.
//
//  - sender_ended, receiver_ended: that side will not touch the block any more.
//  - value_sent: the sender left a value.
//  - closed: the receiver wants no value any more.
//  - receiver_waits, sender_waits: the waker in that side's slot belongs to the word.
//
// A waker changes hands together with its bit: the other side copies the slot's two words, and they
// are a waker only if the exchange of the word then succeeds. The word counts how often a slot was
// filled, so that an exchange which succeeds means that the slot stayed as it was.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/context.hpp"

namespace rouse::internal {

class ROUSE_API OneshotCore {
 public:
  OneshotCore() noexcept = default;
  OneshotCore(const OneshotCore&) = delete;
  OneshotCore& operator=(const OneshotCore&) = delete;

  // The receiver's.
  enum class Received : std::uint8_t { pending, value, sender_ended, closed };
  /// What there is; if nothing yet, `cx` is woken when there is.
  Received poll_received(Context& cx) noexcept {
    const Received there = try_receive();
    return there != Received::pending ? there : wait_to_receive(cx);
  }
  [[nodiscard]] Received try_receive() const noexcept { return received(load()); }
  void stop_receiving() noexcept { stop_waiting(receiver_waits, receiver_slot_); }
  /// No value is wanted any more; one that was sent stays.
  void close() noexcept;
  /// True: the sender ended before, so the block is the receiver's. False: never touch it again.
  [[nodiscard]] bool end_receiver(bool& value_left) noexcept;

  // The sender's.
  /// A value is in the block. True: it is the receiver's, and so is the block. False: it is closed.
  [[nodiscard]] bool publish() noexcept;
  /// True: the receiver ended before, so the block is the sender's. False: never touch it again.
  [[nodiscard]] bool end_sender() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return (load() & closed) != 0; }
  /// True: the receiver closed or ended. Else `cx` is woken when it does.
  bool poll_closed(Context& cx) noexcept;
  void stop_waiting_for_close() noexcept { stop_waiting(sender_waits, sender_slot_); }

 private:
  using Word = std::uint64_t;
  static constexpr Word sender_ended = 1;
  static constexpr Word value_sent = 2;
  static constexpr Word closed = 4;
  static constexpr Word receiver_ended = 8;
  static constexpr Word receiver_waits = 16;
  static constexpr Word sender_waits = 32;
  static constexpr Word one_filling = 64;

  /// A waker in two words that may be copied while they change.
  class Slot {
   public:
    [[nodiscard]] RawWaker get() const noexcept {
      return RawWaker(data_.load(memory_order_relaxed), vtable_.load(memory_order_relaxed));
    }
    void set(RawWaker raw) noexcept {
      data_.store(raw.data(), memory_order_relaxed);
      vtable_.store(raw.vtable(), memory_order_relaxed);
    }

   private:
    atomic<const void*> data_{nullptr};
    atomic<const RawWakerVTable*> vtable_{nullptr};
  };

  // ORDER: acquire; sees the value, or the slot that was filled.
  [[nodiscard]] Word load() const noexcept { return word_.load(memory_order_acquire); }
  // ORDER: release publishes the value or the slot; acquire as in `load`, also if it fails.
  bool exchange(Word& expected, Word desired) noexcept {
    return word_.compare_exchange_weak(expected, desired, memory_order_acq_rel,
                                       memory_order_acquire);
  }
  static Received received(Word word) noexcept {
    if ((word & value_sent) != 0) return Received::value;
    if ((word & sender_ended) != 0) return Received::sender_ended;
    return (word & closed) != 0 ? Received::closed : Received::pending;
  }
  /// To be woken or dropped by whoever then exchanges `word` for one without that bit.
  static RawWaker waker_of(Word word, Word waits, const Slot& slot) noexcept {
    return (word & waits) != 0 ? slot.get() : RawWaker(nullptr, nullptr);
  }

  Received wait_to_receive(Context& cx) noexcept;
  Word wait(Word waits, Slot& slot, Word until, Context& cx) noexcept;
  void stop_waiting(Word waits, Slot& slot) noexcept;

  atomic<Word> word_{0};
  Slot receiver_slot_;
  Slot sender_slot_;
};

}  // namespace rouse::internal
