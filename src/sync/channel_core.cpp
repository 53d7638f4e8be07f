// Waiting, growing and ending. See sync/internal/channel_core.hpp.
#include "rouse/sync/internal/channel_core.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "rouse/sync/internal/wait_until.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::internal {

// --- Rings. ---

namespace {

constexpr std::size_t first_size = model_checker ? 2 : 32;  // a model is to see it grow

/// The largest ring that an empty unbounded channel keeps. (A bounded one keeps any: a ring must
/// not be too small for what is reserved.)
constexpr std::uint32_t kept_size(std::size_t slot_size) {
  constexpr std::size_t bytes = model_checker ? 1 : 64 * 1024;
  return static_cast<std::uint32_t>(std::max(first_size, std::bit_floor(bytes / slot_size)));
}

std::uint32_t needed_by(const WaitingSender& sender) noexcept {
  return sender.wants_many ? static_cast<const WaitingForMany&>(sender).needed : 1;
}

}  // namespace

ChannelCore::ChannelCore(std::size_t capacity, std::size_t slot_size)
    : slot_size_(slot_size),
      bounded_(capacity != 0),
      limit_(bounded_ ? static_cast<std::uint32_t>(capacity) : 1U << 30),
      kept_(bounded_ ? limit_ : kept_size(slot_size)) {
  ROUSE_ASSERT(capacity <= max_capacity,
               "a channel for more than 2^28-1 messages: use sync::unbounded");
  const std::size_t size = bounded_ ? std::min(first_size, std::bit_ceil(capacity)) : first_size;
  reading_ = make_ring(size);
  if (reading_ == nullptr) throw std::bad_alloc();
  // Positions begin two rounds before they wrap around, so that every channel does that.
  const std::uint64_t first = (0 - 2 * size) * one_position;
  reading_->claims.store(first, memory_order_relaxed);
  reading_->seen_head.store(position(first), memory_order_relaxed);
  reading_->head.store(first, memory_order_relaxed);
  ring_.store(reading_, memory_order_relaxed);
  if (capacity_of(*reading_) == limit_) largest_.store(reading_, memory_order_relaxed);
}

ChannelCore::~ChannelCore() {
  while (Ring* ring = made_) {
    made_ = ring->next_made;
    ::operator delete(ring->slots.read(), std::align_val_t(alignof(Ring)));
    delete ring;
  }
}

/// Null: no memory.
void* ChannelCore::make_slots(std::size_t size) const noexcept {
  void* const slots =
      ::operator new(size * slot_size_, std::align_val_t(alignof(Ring)), std::nothrow);
  if (slots == nullptr) return nullptr;
  std::memset(slots, 0, size * slot_size_);  // no slot is full,
  // but the last one for position -1, whose mark is 0.
  void* const last = static_cast<char*>(slots) + (size - 1) * slot_size_;
  if (size > 1) static_cast<atomic<std::uint32_t>*>(last)->store(1, memory_order_relaxed);
  return slots;
}

/// Sealed still, and not in use. Null: no memory.
ChannelCore::Ring* ChannelCore::make_ring(std::size_t size) noexcept {
  void* const slots = make_slots(size);
  if (slots == nullptr) return nullptr;
  SpinGuard guard(lock);
  Ring* ring = unused_;
  if (ring != nullptr) {
    unused_ = ring->next_unused;
  } else {
    guard.unlock();
    ring = new (std::nothrow) Ring;
    if (ring == nullptr) {
      ::operator delete(slots, std::align_val_t(alignof(Ring)));
      return nullptr;
    }
    guard.lock();
    ring->next_made = std::exchange(made_, ring);
  }
  ring->slots.write() = slots;
  ring->mask.write() = static_cast<std::uint32_t>(size - 1);
  const std::size_t capacity = std::min<std::size_t>(size, limit_);
  ring->capacity.store(static_cast<std::int32_t>(capacity), memory_order_relaxed);
  return ring;
}

/// Continues the channel in a larger ring, if `full` is still the newest. False: no memory.
bool ChannelCore::grow(const Ring& full) noexcept {
  return go_on_in_ring_of(2 * std::size_t{capacity_of(full)}, full);
}

/// For a receiver that found nothing: continues the channel in a small ring, if it is still empty.
void ChannelCore::shrink() noexcept {
  go_on_in_ring_of(kept_, newest());
  const SpinGuard others_take_nothing(pop_lock);
  while (next_ring()) {
  }
}

bool ChannelCore::go_on_in_ring_of(std::size_t size, const Ring& old) noexcept {
  Ring* const ring = make_ring(size);
  if (ring == nullptr) return false;
  SpinGuard guard(lock);
  if (ring_.load(memory_order_relaxed) == &old) install(*ring, *ring_.load(memory_order_relaxed));
  if (ring_.load(memory_order_relaxed) == ring) return true;
  void* const slots = std::exchange(ring->slots.write(), nullptr);
  ring->next_unused = std::exchange(unused_, ring);
  guard.unlock();
  ::operator delete(slots, std::align_val_t(alignof(Ring)));
  return true;
}

/// The lock is held. Does nothing if the channel is closed, somebody waits for room, or the ring is
/// smaller than the old one, unless that is empty and nothing can be reserved.
void ChannelCore::install(Ring& ring, Ring& old) noexcept {
  const auto may_go_on = [&](std::uint64_t claims, std::uint64_t head) {
    return (claims & (closed | senders_wait)) == 0 &&
           (capacity_of(ring) > capacity_of(old) ||
            (!bounded_ && used(claims, position(head)) == 0));
  };
  std::uint64_t head = old.head.load(memory_order_relaxed);
  std::uint64_t claims = old.claims.load(memory_order_relaxed);
  if (!may_go_on(claims, head)) return;
  // Whoever looks at this ring from long ago finds it sealed, and a head that was the channel's.
  ring.claims.store(claims | sealed, memory_order_relaxed);
  ring.seen_head.store(position(head), memory_order_relaxed);
  // ORDER: release; the claims are no older than the head: see size().
  ring.head.store(head, memory_order_release);
  ring.newer.write() = nullptr;
  old.newer.write() = &ring;
  // From here on the receiver moves both heads on, and here what it did before.
  // ORDER: release; publishes `newer`, and the head there.
  const std::uint64_t sealed_head = old.head.fetch_or(sealed, memory_order_release);
  ring.head.fetch_add(sealed_head - head, memory_order_relaxed);
  for (;;) {
    ring.claims.store(claims | sealed, memory_order_relaxed);
    // Who finds it sealed takes the lock before it goes on to the next ring.
    if (old.claims.compare_exchange_weak(claims, claims | sealed, memory_order_relaxed,
                                         memory_order_relaxed))
      break;
  }
  // ORDER: release; the ring as it is now, for a sender that looks at it from long ago.
  ring.claims.store(claims, memory_order_release);
  // ORDER: release; publishes the ring to senders.
  ring_.store(&ring, memory_order_release);
  // ORDER: release; the same for reservations.
  if (capacity_of(ring) == limit_) largest_.store(&ring, memory_order_release);
}

/// It is sealed: no claim is added.
bool ChannelCore::next_ring_if_emptied() noexcept {
  Ring& old = *reading_;
  SpinGuard guard(lock);  // the next ring is installed
  const std::uint64_t claims = old.claims.load(memory_order_relaxed);
  if (position(claims) != position(old.head.load(memory_order_relaxed))) return false;
  reading_ = old.newer.read();
  void* const slots = std::exchange(old.slots.write(), nullptr);
  old.next_unused = std::exchange(unused_, &old);
  guard.unlock();
  ::operator delete(slots, std::align_val_t(alignof(Ring)));
  return true;
}

// --- Sending. ---

bool ChannelCore::has_room_now(Ring& ring, std::uint64_t claims, std::uint32_t n) noexcept {
  // ORDER: acquire; the slots before that head are empty.
  const std::uint32_t head = position(ring.head.load(memory_order_acquire));
  // ORDER: release; the same for those who trust the copy.
  ring.seen_head.store(head, memory_order_release);
  return used(claims, head) + static_cast<std::int32_t>(n) <=
         ring.capacity.load(memory_order_relaxed);
}

ChannelCore::Room ChannelCore::take_room(std::uint64_t taken, Claim& claimed, std::uint32_t n) {
  for (;;) {
    // ORDER: acquire; sees the ring that was installed.
    Ring& ring = *ring_.load(memory_order_acquire);
    // ORDER: acquire; who finds it closed sees what was done before.
    std::uint64_t claims = ring.claims.load(memory_order_acquire);
    if ((claims & sealed) != 0) {
      const SpinGuard newer_is_installed(lock);
      continue;
    }
    if ((claims & closed) != 0) return Room::closed;
    if ((claims & senders_wait) != 0) return Room::full;
    if (!has_room_now(ring, claims, n)) {
      if (capacity_of(ring) < limit_ && grow(ring)) continue;
      if (bounded_) return Room::full;  // without memory for more, too
      ROUSE_ASSERT(capacity_of(ring) < limit_, "an unbounded channel holds 2^30 messages: receive");
      throw std::bad_alloc();
    }
    // ORDER: acq_rel; as in claim_quickly.
    if (ring.claims.compare_exchange_strong(claims, claims + taken, memory_order_acq_rel,
                                            memory_order_relaxed)) {
      claimed = Claim{&ring, position(claims), (claims & receivers_wait) != 0};
      return Room::taken;
    }
    // Two senders that race for the cache line slow each other down: the loser lets the winner send
    // some more.
    constexpr int pauses = 32;
    for (int i = 0; i < pauses; ++i) spin_hint();
  }
}

/// Adds to the claims of a ring that is not sealed. Gives what they were, and the ring.
/// ORDER: acquire; the room was made for whoever took the last, maybe after this reservation. All
/// who take room saw then that it was empty, and release that here. Sees a ring's new slots.
std::uint64_t ChannelCore::change_reservation(std::uint64_t change, Ring*& ring) noexcept {
  for (;;) {
    // ORDER: acquire; sees the ring that was installed.
    ring = largest_.load(memory_order_acquire);
    if (ring != nullptr) [[likely]]
      return ring->claims.fetch_add(change, memory_order_acquire);
    // ORDER: acquire; as above.
    ring = ring_.load(memory_order_acquire);
    std::uint64_t claims = ring->claims.load(memory_order_relaxed);
    while ((claims & sealed) == 0) {
      if (ring->claims.compare_exchange_weak(claims, claims + change, memory_order_acquire,
                                             memory_order_relaxed))
        return claims;
    }
    const SpinGuard newer_is_installed(lock);
  }
}

ChannelCore::Claim ChannelCore::claim_reserved() noexcept {
  Ring* ring = nullptr;
  const std::uint64_t claims = change_reservation(one_position - one_reserved, ring);
  return Claim{ring, position(claims), (claims & receivers_wait) != 0,
               (claims & closed) != 0 && reserved(claims) == 1};
}

void ChannelCore::unreserve(std::uint32_t n) noexcept {
  Ring* ring = nullptr;
  const std::uint64_t claims = change_reservation(0 - n * one_reserved, ring);
  if ((claims & senders_wait) != 0) serve_senders();
  if ((claims & closed) == 0 || reserved(claims) != n) return;
  wake_receivers();  // the last message that could have come does not: it is over
}

Poll<bool> ChannelCore::poll_room(WaitingSender& sender, const Context& cx, Claim* at_once) {
  if (sender.is_fresh()) {
    const Wait wait = wait_for_room(sender, cx, at_once);
    if (wait == Wait::pending) return pending;
    return Poll<bool>::ready(wait == Wait::again);
  }
  if (!sender.is_notified() && WaitList::keep_waker(lock, sender, cx)) return pending;
  sender.reset();
  return Poll<bool>::ready(!sender.is_refused);
}

ChannelCore::Wait ChannelCore::wait_for_room(WaitingSender& sender, const Context& cx,
                                             Claim* at_once) {
  const std::uint32_t needed = needed_by(sender);
  Waker waker = cx.waker();
  const SpinGuard guard(lock);
  Ring& ring = *ring_.load(memory_order_relaxed);
  // ORDER: acquire; who finds it closed sees what was done before.
  std::uint64_t claims = ring.claims.load(memory_order_acquire);
  while ((claims & senders_wait) == 0) {
    if ((claims & closed) != 0) return Wait::closed;
    if (has_room_now(ring, claims, needed)) {
      const std::uint64_t taken = at_once ? one_position : needed * one_reserved;
      // ORDER: release; as in claim_quickly. Acquire if it fails: as above.
      if (!ring.claims.compare_exchange_weak(claims, claims + taken, memory_order_release,
                                             memory_order_acquire))
        continue;
      if (at_once) *at_once = Claim{&ring, position(claims), (claims & receivers_wait) != 0};
      return Wait::again;
    }
    // From here on whoever makes room sees that somebody waits.
    ring.head.fetch_or(senders_wait, memory_order_relaxed);
    claims = ring.claims.fetch_or(senders_wait, memory_order_relaxed) | senders_wait;
    if (!has_room_now(ring, claims, needed)) break;
    no_senders_wait(ring);  // it was made right before
    // ORDER: acquire; as above.
    claims = ring.claims.load(memory_order_acquire);
  }
  // No ring grows while somebody waits: one that is too small is one without memory for more.
  if (needed > capacity_of(ring)) {
    if (waiting_senders_.empty()) no_senders_wait(ring);
    throw std::bad_alloc();
  }
  waiting_senders_.push(sender, std::move(waker));
  return Wait::pending;
}

void ChannelCore::leave(WaitingSender& sender) noexcept {
  Waker dropped;
  SpinGuard guard(lock);
  if (waiting_senders_.remove(sender, dropped)) {
    if (waiting_senders_.empty()) return no_senders_wait(*ring_.load(memory_order_relaxed));
    guard.unlock();
    if (sender.wants_many) serve_senders();  // those behind it may want less
    return;
  }
  guard.unlock();
  sender.wait_until_notified();
  if (!sender.is_refused) unreserve(needed_by(sender));
}

void ChannelCore::serve_senders() noexcept {
  for (bool more = true; more;) {
    WakeBatch woken;
    SpinGuard guard(lock);
    Ring& ring = *ring_.load(memory_order_relaxed);
    // While the bit is set nobody else takes room, and what was reserved before has its own.
    while (!waiting_senders_.empty() && !woken.is_full()) {
      auto& first = waiting_senders_.first<WaitingSender>();
      const std::uint32_t needed = needed_by(first);
      if (!has_room_now(ring, ring.claims.load(memory_order_relaxed), needed)) break;
      // ORDER: release; as in claim_quickly.
      ring.claims.fetch_add(needed * one_reserved, memory_order_release);
      woken.take(first);
    }
    if (waiting_senders_.empty()) no_senders_wait(ring);
    more = !waiting_senders_.empty() && woken.is_full();
    guard.unlock();
    woken.wake_all();
  }
}

void ChannelCore::no_senders_wait(Ring& ring) noexcept {
  ring.head.fetch_and(~senders_wait, memory_order_relaxed);
  ring.claims.fetch_and(~senders_wait, memory_order_relaxed);
}

// --- Receiving. ---

/// The head of this ring was moved on when it was sealed already: that of the next one, too.
bool ChannelCore::emptied_sealed(Ring& ring) noexcept { return emptied(*ring.newer.read()); }

ChannelCore::Wait ChannelCore::wait_for_message(Waiter& receiver, const Context& cx) {
  if (size() != 0) return Wait::again;  // without a stop to the sender that is about to fill it
  if (capacity_of(newest()) > kept_) shrink();
  Waker waker = cx.waker();
  const SpinGuard guard(lock);
  Ring& ring = *ring_.load(memory_order_relaxed);
  // ORDER: acquire; who finds it closed sees what was done before.
  const std::uint64_t claims = ring.claims.fetch_or(receivers_wait, memory_order_acquire);
  const bool is_over = (claims & closed) != 0 && reserved(claims) == 0;
  const bool empty = size() == 0;
  if (empty && !is_over) {
    waiting_receivers_.push(receiver, std::move(waker));
    return Wait::pending;
  }
  if (waiting_receivers_.empty()) no_receivers_wait();
  return empty ? Wait::closed : Wait::again;
}

void ChannelCore::no_receivers_wait() noexcept {
  ring_.load(memory_order_relaxed)->claims.fetch_and(~receivers_wait, memory_order_relaxed);
}

void ChannelCore::wake_receiver() noexcept {
  WakeBatch woken;
  SpinGuard guard(lock);
  if (!waiting_receivers_.empty()) {
    woken.take(waiting_receivers_.first());
    if (waiting_receivers_.empty()) no_receivers_wait();
  }
  guard.unlock();
  woken.wake_all();
}

void ChannelCore::leave(Waiter& receiver) noexcept {
  Waker dropped;
  SpinGuard guard(lock);
  if (waiting_receivers_.remove(receiver, dropped)) {
    if (waiting_receivers_.empty()) no_receivers_wait();
    return;
  }
  guard.unlock();
  receiver.wait_until_notified();
  wake_receiver();  // what it was woken for is the next one's
}

void ChannelCore::receiver_moves(Waiter& receiver) noexcept {
  Waker woken;
  SpinGuard guard(lock);
  if (!waiting_receivers_.remove(receiver, woken)) {
    guard.unlock();
    receiver.wait_until_notified();
    return wake_receiver();
  }
  if (waiting_receivers_.empty()) no_receivers_wait();
  guard.unlock();
  std::move(woken).wake();
}

// --- Ends. ---

void ChannelCore::close() noexcept {
  refuse_senders();
  lock.lock();
  notify_all_and_unlock(lock, close_watchers_);
  wake_receivers();
}

void ChannelCore::refuse_senders() noexcept {
  for (bool more = true; more;) {
    WakeBatch woken;
    SpinGuard guard(lock);
    Ring& ring = *ring_.load(memory_order_relaxed);
    // ORDER: release; who finds it closed sees what was done before.
    ring.claims.fetch_or(closed, memory_order_release);
    while (!waiting_senders_.empty() && !woken.is_full()) {
      auto& sender = waiting_senders_.first<WaitingSender>();
      sender.is_refused = true;
      woken.take(sender);
    }
    if (waiting_senders_.empty()) no_senders_wait(ring);
    more = !waiting_senders_.empty() && woken.is_full();
    guard.unlock();
    woken.wake_all();
  }
}

void ChannelCore::wake_receivers() noexcept {
  lock.lock();
  no_receivers_wait();
  notify_all_and_unlock(lock, waiting_receivers_);
}

/// A closed ring stays the newest, nobody takes room in it any more, and a reservation becomes a
/// position or nothing in one exchange: so with none left its claims are final.
bool ChannelCore::has_ended() const noexcept {
  const Ring& ring = newest();
  // ORDER: acquire; who finds it closed sees what was done before.
  const std::uint64_t claims = ring.claims.load(memory_order_acquire);
  if ((claims & closed) == 0 || reserved(claims) != 0) return false;
  // ORDER: acquire; sees what whoever received the last one did.
  return position(claims) == position(ring.head.load(memory_order_acquire));
}

bool ChannelCore::poll_no_receiver(Waiter& watcher, Context& cx) {
  return wait_until(lock, close_watchers_, watcher, cx, [this] { return is_closed(); });
}

void ChannelCore::stop_waiting_for_receivers(Waiter& watcher) noexcept {
  stop_waiting(lock, close_watchers_, watcher);
}

bool ChannelCore::try_add_sender() noexcept {
  std::size_t senders = senders_.load(memory_order_relaxed);
  while (senders != 0) {
    if (senders_.compare_exchange_weak(senders, senders + 1, memory_order_relaxed,
                                       memory_order_relaxed))
      return true;
  }
  return false;
}

bool ChannelCore::drop_sender() noexcept {
  // ORDER: acq_rel; what all senders did comes before the close.
  if (senders_.fetch_sub(1, memory_order_acq_rel) != 1) return false;
  close();
  return true;
}

bool ChannelCore::drop_receiver() noexcept {
  // ORDER: acq_rel; the last one, or the only one left, sees what the others took.
  if (receivers_.fetch_sub(1, memory_order_acq_rel) != 1) return false;
  close();
  return true;
}

// --- To look at. ---

/// Not less than there is: the newest head may be behind.
std::size_t ChannelCore::size() const noexcept {
  const Ring& ring = newest();
  // ORDER: acquire; the claims are no older than the head.
  const std::uint32_t head = position(ring.head.load(memory_order_acquire));
  return position(ring.claims.load(memory_order_relaxed)) - head;
}

std::size_t ChannelCore::free_room() const noexcept {
  const Ring& ring = newest();
  const std::uint32_t head = position(ring.head.load(memory_order_relaxed));
  const auto most = static_cast<std::int32_t>(bounded_ ? limit_ : capacity_of(ring));
  const std::int32_t taken = used(ring.claims.load(memory_order_relaxed), head);
  // The two are not of one moment.
  return static_cast<std::size_t>(most - std::clamp(taken, 0, most));
}

}  // namespace rouse::internal
