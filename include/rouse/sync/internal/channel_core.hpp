// ChannelCore: what a channel is without its values: positions, who waits, who is left.
//
// Messages lie in a ring. A sender claims the next position by one exchange of `claims`, writes the
// slot and marks it full; the receiver looks at the slot at `head`, empties it and moves `head` on.
//
//   claims: | position | reserved | sealed, senders wait, receivers wait, closed |  of senders
//   head:   | position |          | senders wait |                                  of receivers
//
//  - At most `capacity` positions are claimed or reserved beyond `head`, so no slot is written
//    before it was emptied. Senders know `head` from a copy on their own line, which they renew
//    only when the ring looks full.
//  - A receiver that finds nothing says so in `claims` (receivers wait) and looks at the position
//    there in the same exchange: a sender before it is seen, a sender after it sees the bit and
//    wakes a receiver once the slot is full.
//  - A sender that finds no room says so in `head` (senders wait) the same way: either it sees that
//    the receiver moved on, or the receiver sees the bit and gives the room to the one that came
//    first, as a reservation. While the bit is in `claims` nobody else takes room. The first may
//    want room for many: the others wait behind it, though there is room for them, and are looked
//    after when it leaves.
//  - Both bits are set and cleared under the lock, and are set exactly while somebody waits.
//  - A ring begins small. When it is full and the channel is not, the channel goes on in a ring of
//    twice the size, from the same position; when a large one was emptied, in a small one. The old
//    ring is sealed: the receiver empties it, and then goes on to the next.
//  - `head` of a sealed ring says so, too: the receiver that moves it on moves that of the next
//    ring as well. So the head of the newest ring is that of the channel, or a little behind.
//  - The slots of a ring are freed when it was emptied. The ring itself stays, for later use, since
//    a slow sender may still look at it: positions never go back, so what it finds there is as it
//    was (sealed), or belongs to the newest ring, or makes its exchange fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {

/// One who waits for room.
class WaitingSender : public Waiter {
 public:
  WaitingSender() noexcept = default;
  bool is_refused = false;  // notified, but without room: the channel was closed
  bool wants_many = false;  // it is a WaitingForMany
};

/// One who waits for room for several messages at once.
class WaitingForMany : public WaitingSender {
 public:
  explicit WaitingForMany(std::uint32_t n) noexcept : needed(n) { wants_many = true; }
  const std::uint32_t needed;
};

class ROUSE_API ChannelCore {
 public:
  static constexpr std::size_t max_capacity = (std::size_t{1} << 28) - 1;

  /// A ring's numbers. Senders write one line, receivers another, and both read the first.
  struct alignas(64) Ring {
    atomic<std::int32_t> capacity{0};
    Cell<std::uint32_t> mask{0U};
    Cell<void*> slots{nullptr};
    Cell<Ring*> newer{nullptr};
    Ring* next_unused = nullptr;
    Ring* next_made = nullptr;
    alignas(64) atomic<std::uint64_t> claims{sealed};
    atomic<std::uint32_t> seen_head{0};  // the senders' copy
    alignas(64) atomic<std::uint64_t> head{0};
  };

  /// A position that the caller alone may fill.
  struct Claim {
    Ring* ring = nullptr;
    std::uint32_t position = 0;
    bool receivers_wait = false;
    bool is_last = false;  // the channel is closed, and nothing comes after it
  };
  enum class Room : std::uint8_t { taken, full, closed };
  enum class Wait : std::uint8_t { pending, again, closed };

  ChannelCore(const ChannelCore&) = delete;
  ChannelCore& operator=(const ChannelCore&) = delete;

  // --- Sending. ---

  /// Claims a position if that is simple. Null ring: ask `claim`.
  [[nodiscard]] Claim claim_quickly() noexcept {
    // ORDER: acquire; sees the ring that was installed.
    Ring& ring = *ring_.load(memory_order_acquire);
    std::uint64_t claims = ring.claims.load(memory_order_relaxed);
    // ORDER: acquire; the slots before that head are empty.
    const std::uint32_t head = ring.seen_head.load(memory_order_acquire);
    // ORDER: acq_rel; whoever makes its reservation a claim after this finds its slot empty, as
    // this one did; and a ring that was used again is seen with its new slots. Who waits is found
    // under the lock, a value is published by its slot.
    if ((claims & (closed | senders_wait | sealed)) != 0 || is_full(ring, used(claims, head)) ||
        !ring.claims.compare_exchange_strong(claims, claims + one_position, memory_order_acq_rel,
                                             memory_order_relaxed)) [[unlikely]]
      return Claim{};
    return Claim{&ring, position(claims), (claims & receivers_wait) != 0};
  }
  /// Claims a position, if there is room and nobody waits for it.
  [[nodiscard]] Room claim(Claim& claimed) { return take_room(one_position, claimed); }
  /// The same, for positions that are claimed later: see `claim_reserved`.
  [[nodiscard]] Room reserve(std::uint32_t n = 1) {
    Claim none;
    return take_room(n * one_reserved, none, n);
  }
  /// Makes a reservation the claim of a position.
  [[nodiscard]] Claim claim_reserved() noexcept;
  /// Gives reservations back.
  void unreserve(std::uint32_t n = 1) noexcept;
  /// After the claimed slot was marked full.
  void filled(const Claim& claim) noexcept {
    if (claim.receivers_wait) [[unlikely]]
      claim.is_last ? wake_receivers() : wake_receiver();
  }
  /// Waits for a reservation. True: there is one. False: the channel is closed.
  /// `at_once`: if there is room now, it is claimed instead. A reservation there would be seen: as
  /// a channel that is full for senders and empty for receivers.
  [[nodiscard]] Poll<bool> poll_room(WaitingSender& sender, const Context& cx,
                                     Claim* at_once = nullptr);
  /// The future that waits for a reservation is dropped.
  void leave(WaitingSender& sender) noexcept;

  // --- Receiving: one thread at a time. ---

  [[nodiscard]] Ring& reading() noexcept { return *reading_; }
  [[nodiscard]] static std::uint32_t head(const Ring& ring) noexcept {
    return position(ring.head.load(memory_order_relaxed));
  }
  /// The slot at `head` was emptied. True: `serve_senders`.
  [[nodiscard]] static bool emptied(Ring& ring) noexcept {
    // ORDER: acq_rel; the slot is empty for whoever sees the new head. Sees `newer` of a sealed
    // ring.
    const std::uint64_t head = ring.head.fetch_add(one_position, memory_order_acq_rel);
    if ((head & (senders_wait | sealed)) == 0) [[likely]]
      return false;
    return (head & sealed) == 0 || emptied_sealed(ring);
  }
  /// The slot at `head` is not full: true if there is a next ring, which is now the one to read.
  [[nodiscard]] bool next_ring() noexcept { return has_next_ring() && next_ring_if_emptied(); }
  [[nodiscard]] bool has_next_ring() const noexcept {
    return (reading_->claims.load(memory_order_relaxed) & sealed) != 0;
  }

  // --- Receiving: any. ---

  /// Gives the room there is to senders that wait.
  void serve_senders() noexcept;
  /// Nothing was there to receive. Again: there is now, or will be in a moment. Pending: look again
  /// once `receiver` is notified.
  [[nodiscard]] Wait wait_for_message(Waiter& receiver, const Context& cx);
  /// The future that waits for a message is dropped.
  void leave(Waiter& receiver) noexcept;
  /// A receiver moves while it waits: whoever polls it is woken, to poll it at its new place.
  void receiver_moves(Waiter& receiver) noexcept;

  // --- Ends. ---

  /// No message is sent from now on, but those that were reserved.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // ORDER: acquire; sees what was done before `close`.
    return (newest().claims.load(memory_order_acquire) & closed) != 0;
  }
  /// It is closed, nothing is reserved and everything was received: for good.
  [[nodiscard]] bool has_ended() const noexcept;
  /// True: it is closed. False: `cx` is woken then.
  [[nodiscard]] bool poll_no_receiver(Waiter& watcher, Context& cx);
  void stop_waiting_for_receivers(Waiter& watcher) noexcept;

  void add_sender() noexcept { senders_.fetch_add(1, memory_order_relaxed); }
  /// For a weak sender: false if there is no sender any more.
  [[nodiscard]] bool try_add_sender() noexcept;
  /// True: it was the last; the channel is closed.
  [[nodiscard]] bool drop_sender() noexcept;
  void add_receiver() noexcept { receivers_.fetch_add(1, memory_order_relaxed); }
  /// True: it was the last; the channel is closed, and what is in it is the caller's to drop.
  [[nodiscard]] bool drop_receiver() noexcept;
  /// ORDER: acquire; where the others are gone, sees what they took.
  [[nodiscard]] bool has_one_receiver() const noexcept {
    return receivers_.load(memory_order_acquire) == 1;
  }
  [[nodiscard]] std::size_t senders() const noexcept { return senders_.load(memory_order_relaxed); }
  [[nodiscard]] std::size_t receivers() const noexcept {
    return receivers_.load(memory_order_relaxed);
  }

  // --- To look at; a moment later it may be wrong. ---

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t free_room() const noexcept;
  /// Of a bounded channel.
  [[nodiscard]] bool is_half_empty() const noexcept {
    const Ring& ring = newest();
    const std::uint32_t head = position(ring.head.load(memory_order_relaxed));
    const std::int32_t taken = used(ring.claims.load(memory_order_relaxed), head);
    return taken <= static_cast<std::int32_t>(limit_ / 2);
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    return bounded_ ? limit_ : capacity_of(newest());
  }

  SpinLock pop_lock;  // what several receivers hold to take a message
  SpinLock lock;      // guards who waits

 protected:
  /// 0: unbounded.
  ChannelCore(std::size_t capacity, std::size_t slot_size);
  ~ChannelCore();

 private:
  static constexpr std::uint64_t closed = 1;
  static constexpr std::uint64_t receivers_wait = 2;
  static constexpr std::uint64_t senders_wait = 4;
  static constexpr std::uint64_t sealed = 8;
  static constexpr std::uint64_t one_reserved = 16;
  static constexpr std::uint64_t one_position = std::uint64_t{1} << 32;

  static constexpr std::uint32_t position(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t reserved(std::uint64_t claims) noexcept {
    return static_cast<std::uint32_t>(claims) >> 4;
  }
  /// Less than none if `claims` is older than `head`: then it is too old to be exchanged.
  static constexpr std::int32_t used(std::uint64_t claims, std::uint32_t head) noexcept {
    return static_cast<std::int32_t>(position(claims) - head + reserved(claims));
  }
  /// Also if less than none: then `head` is newer than the claims, or by far too old.
  static bool is_full(const Ring& ring, std::int32_t taken) noexcept {
    return static_cast<std::uint32_t>(taken) >= capacity_of(ring);
  }
  static std::uint32_t capacity_of(const Ring& ring) noexcept {
    return static_cast<std::uint32_t>(ring.capacity.load(memory_order_relaxed));
  }
  static bool has_room_now(Ring& ring, std::uint64_t claims, std::uint32_t n = 1) noexcept;
  /// ORDER: acquire; sees the ring that was installed.
  const Ring& newest() const noexcept { return *ring_.load(memory_order_acquire); }

  /// Adds `taken` to the claims: one_position, or `n` times one_reserved.
  Room take_room(std::uint64_t taken, Claim& claimed, std::uint32_t n = 1);
  Wait wait_for_room(WaitingSender& sender, const Context& cx, Claim* at_once);
  bool next_ring_if_emptied() noexcept;
  static bool emptied_sealed(Ring& ring) noexcept;
  std::uint64_t change_reservation(std::uint64_t change, Ring*& ring) noexcept;
  void* make_slots(std::size_t size) const noexcept;
  Ring* make_ring(std::size_t size) noexcept;
  bool grow(const Ring& full) noexcept;
  void shrink() noexcept;
  bool go_on_in_ring_of(std::size_t size, const Ring& old) noexcept;
  void install(Ring& ring, Ring& old) noexcept;
  void wake_receiver() noexcept;
  void no_senders_wait(Ring& ring) noexcept;
  void no_receivers_wait() noexcept;
  void wake_receivers() noexcept;
  void refuse_senders() noexcept;

  atomic<Ring*> ring_{nullptr};
  atomic<Ring*> largest_{nullptr};  // of a bounded channel, once it is there: it is never sealed
  const std::size_t slot_size_;
  const bool bounded_;
  const std::uint32_t limit_;  // of messages
  const std::uint32_t kept_;   // slots of an empty ring
  Ring* reading_ = nullptr;    // the receiver's
  Ring* unused_ = nullptr;     // rings without slots
  Ring* made_ = nullptr;       // all of them
  WaitList waiting_senders_;
  WaitList waiting_receivers_;
  WaitList close_watchers_;
  atomic<std::size_t> senders_{1};
  atomic<std::size_t> receivers_{1};
};

}  // namespace rouse::internal
