// BroadcastCore: what the two sides of a broadcast channel share: the ring of the values sent last,
// by address, and who waits. sync/broadcast.hpp is what programs use.
//
// Invariants:
//  - Values have positions, counted from 0. The ring holds those from `oldest()` to the tail; each
//    with the number of receivers that have not had it. The last of them takes it out of the ring.
//  - The lock guards the ring and all changes of the tail, which is also read without it.
//  - Nothing foreign runs under the lock: a value is made before it is sent, copied by receivers
//    each from a reference of its own, and dropped after the lock was given back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/context.hpp"
#include "rouse/sync/internal/wait_list.hpp"
#include "rouse/sync/internal/wait_until.hpp"

namespace rouse::internal {

/// A value that was sent. `destroy` knows what it is.
class BroadcastNode {
 public:
  explicit BroadcastNode(void (*destroy)(BroadcastNode&) noexcept) noexcept : destroy_(destroy) {}
  BroadcastNode(const BroadcastNode&) = delete;
  BroadcastNode& operator=(const BroadcastNode&) = delete;

  /// ORDER: relaxed; whoever adds an owner holds one already.
  void add_ref() noexcept { owners_.fetch_add(1, memory_order_relaxed); }
  void release() noexcept {
    // ORDER: acq_rel; the last owner destroys it after the others have copied it.
    if (owners_.fetch_sub(1, memory_order_acq_rel) == 1) destroy_(*this);
  }
  /// ORDER: acquire; as in `release`: the others have copied it.
  [[nodiscard]] bool is_sole() const noexcept { return owners_.load(memory_order_acquire) == 1; }

 protected:
  ~BroadcastNode() = default;

 private:
  atomic<std::uint32_t> owners_{1};
  void (*destroy_)(BroadcastNode&) noexcept;
};

class ROUSE_API BroadcastCore : public RefCounted<BroadcastCore> {
 public:
  using Position = std::uint64_t;

  /// Starts with one sender and no receiver.
  explicit BroadcastCore(std::size_t capacity);

  // The sender's.
  /// How many receivers will get it. 0: there is none, and `node` is still the caller's.
  std::size_t send(RefPtr<BroadcastNode>& node) noexcept;
  void add_sender() noexcept { senders_.fetch_add(1, memory_order_relaxed); }
  /// The last one closes the channel.
  void remove_sender() noexcept;
  /// ORDER: acquire; sees what the last receiver did.
  [[nodiscard]] std::size_t receivers() const noexcept {
    return receivers_.load(memory_order_acquire);
  }
  /// True: there is no receiver.
  bool poll_no_receiver(Waiter& waiter, Context& cx);
  void stop_waiting_for_receivers(Waiter& waiter) noexcept {
    stop_waiting(lock_, senders_waiting_, waiter);
  }

  // The receiver's. `next` is the position of the value it gets next.
  [[nodiscard]] Position add_receiver() noexcept;
  void copy_receiver(Position next) noexcept;
  void remove_receiver(Position next) noexcept;
  /// True: `take` has a value, or none will come.
  bool poll_receivable(Waiter& waiter, Position next, Context& cx);
  void stop_receiving(Waiter& waiter) noexcept { stop_waiting(lock_, receivers_waiting_, waiter); }
  void move_receiver(Waiter& waiter) noexcept {
    wake_and_stop_waiting(lock_, receivers_waiting_, waiter);
  }
  /// Null: there is nothing. Adds to `missed` how many values were gone before.
  [[nodiscard]] RefPtr<BroadcastNode> take(Position& next, std::uint64_t& missed) noexcept;
  [[nodiscard]] std::size_t size(Position next) const noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return (word() & closed_bit) != 0; }

 private:
  friend class RefCounted<BroadcastCore>;
  ~BroadcastCore() = default;

  struct Slot {
    RefPtr<BroadcastNode> node;
    std::size_t missing = 0;  // receivers that have not had it
  };
  static constexpr Position closed_bit = 1;

  // ORDER: acquire; whoever sees a tail finds the values before it.
  [[nodiscard]] Position word() const noexcept { return word_.load(memory_order_acquire); }
  [[nodiscard]] Position tail() const noexcept { return word() >> 1; }
  [[nodiscard]] Position oldest() const noexcept {
    return tail() > capacity_ ? tail() - capacity_ : 0;
  }
  Slot& slot(Position position) noexcept { return ring_[position & mask_]; }
  RefPtr<BroadcastNode> had(Position position) noexcept;

  const std::size_t capacity_;
  const std::size_t mask_;
  const internal::Box<Slot[]> ring_;
  SpinLock lock_;
  atomic<Position> word_{0};  // twice the tail, and whether it is closed; written under the lock
  atomic<std::size_t> receivers_{0};  // written under the lock
  atomic<std::size_t> senders_{1};
  WaitList receivers_waiting_;
  WaitList senders_waiting_;
};

}  // namespace rouse::internal
