// Waiting, growing and ending. See sync/channel_core.hpp.
#include "rouse/sync/channel_core.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "rouse/sync/wait_until.hpp"

namespace rouse::sync {

// --- Rings. ---

ChannelCore::ChannelCore(std::size_t capacity, std::size_t slot_size)
    : slot_size_(slot_size),
      bounded_(capacity != 0),
      oldest_(*make_first_ring(capacity)),
      reading_(&oldest_) {
  ring_.store(&oldest_, memory_order_relaxed);
}

ChannelCore::Ring* ChannelCore::make_first_ring(std::size_t capacity) const {
  ROUSE_ASSERT(capacity <= max_capacity,
               "a channel for more than 2^28-1 messages: use sync::unbounded");
  constexpr std::size_t first_size = model_checker ? 2 : 32;  // a model is to see it grow
  const std::size_t size = bounded_ ? std::bit_ceil(capacity) : first_size;
  return make_ring(size, bounded_ ? capacity : size, nullptr);
}

ChannelCore::~ChannelCore() {
  for (Ring* ring = ring_.load(memory_order_relaxed); ring != nullptr;) {
    Ring* older = ring->older;
    ring->~Ring();
    ::operator delete(ring, std::align_val_t(alignof(Ring)));
    ring = older;
  }
}

ChannelCore::Ring* ChannelCore::make_ring(std::size_t size, std::size_t capacity,
                                          Ring* older) const {
  void* memory = ::operator new(sizeof(Ring) + size * slot_size_, std::align_val_t(alignof(Ring)));
  auto* ring = new (memory) Ring(size, capacity, older);
  std::memset(ring->slots(), 0, size * slot_size_);  // no slot is full
  return ring;
}

/// Lets senders go on in a ring of twice the size, if `full` is the newest still.
void ChannelCore::grow(Ring& full) {
  const std::size_t size = std::size_t{full.mask} + 1;
  ROUSE_ASSERT(size < std::size_t{1} << 30, "an unbounded channel holds 2^30 messages: receive");
  Ring* larger = make_ring(2 * size, 2 * size, &full);
  {
    const SpinGuard guard(lock);
    if (ring_.load(memory_order_relaxed) == &full && !is_closed()) {
      if (!waiting_receivers_.is_empty())
        larger->claims.fetch_or(receivers_wait, memory_order_relaxed);
      full.newer.write() = larger;
      // ORDER: release; publishes `newer` to the receiver.
      full.claims.fetch_or(sealed, memory_order_release);
      // ORDER: release; publishes the new ring to senders.
      ring_.store(std::exchange(larger, nullptr), memory_order_release);
    }
  }
  if (larger != nullptr) ::operator delete(larger, std::align_val_t(alignof(Ring)));
}

bool ChannelCore::next_ring_if_sealed() noexcept {
  // ORDER: acquire; sees `newer` of a sealed ring.
  const std::uint64_t claims = reading_->claims.load(memory_order_acquire);
  if ((claims & sealed) == 0) return false;
  if (position(claims) != position(reading_->head.load(memory_order_relaxed))) return false;
  reading_ = reading_->newer.read();
  return true;
}

// --- Sending. ---

bool ChannelCore::has_room_now(Ring& ring, std::uint64_t claims) noexcept {
  // ORDER: acquire; the slots before that head are empty.
  const std::uint32_t head = position(ring.head.load(memory_order_acquire));
  // ORDER: release; the same for those who trust the copy.
  ring.seen_head.store(head, memory_order_release);
  return used(claims, head) < ring.capacity;
}

ChannelCore::Room ChannelCore::take_room(std::uint64_t taken, Claim& claimed) {
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
    if (!has_room_now(ring, claims)) {
      if (bounded_) return Room::full;
      grow(ring);
      continue;
    }
    // ORDER: release; as in claim_quickly.
    if (ring.claims.compare_exchange_strong(claims, claims + taken, memory_order_release,
                                            memory_order_relaxed)) {
      claimed = Claim{&ring, position(claims), (claims & receivers_wait) != 0};
      return Room::taken;
    }
    // Two that race for the line slow each other down: the loser lets the winner send some more.
    constexpr int pauses = 32;
    for (int i = 0; i < pauses; ++i) spin_hint();
  }
}

ChannelCore::Claim ChannelCore::claim_reserved() noexcept {
  Ring& ring = *ring_.load(memory_order_relaxed);  // only bounded channels have reservations
  // ORDER: acquire; the room was made for whoever took the last, maybe after this reservation. All
  // who take room saw then that it was empty, and release that here.
  const std::uint64_t claims =
      ring.claims.fetch_add(one_position - one_reserved, memory_order_acquire);
  return Claim{&ring, position(claims), (claims & receivers_wait) != 0,
               (claims & closed) != 0 && reserved(claims) == 1};
}

void ChannelCore::unreserve() noexcept {
  Ring& ring = *ring_.load(memory_order_relaxed);
  const std::uint64_t claims = ring.claims.fetch_sub(one_reserved, memory_order_relaxed);
  if ((claims & senders_wait) != 0) serve_senders();
  if ((claims & closed) == 0 || reserved(claims) != 1) return;
  wake_receivers();  // the last message that could have come does not: it is over
}

Poll<bool> ChannelCore::poll_room(WaitingSender& sender, const Context& cx) {
  if (sender.is_fresh()) {
    const Wait wait = wait_for_room(sender, cx);
    if (wait == Wait::pending) return pending;
    return Poll<bool>::ready(wait == Wait::again);
  }
  if (!sender.is_notified() && WaitList::keep_waker(lock, sender, cx)) return pending;
  sender.reset();
  return Poll<bool>::ready(!sender.is_refused);
}

ChannelCore::Wait ChannelCore::wait_for_room(WaitingSender& sender, const Context& cx) {
  Waker waker = cx.waker();
  const SpinGuard guard(lock);
  Ring& ring = *ring_.load(memory_order_relaxed);
  // ORDER: acquire; who finds it closed sees what was done before.
  std::uint64_t claims = ring.claims.load(memory_order_acquire);
  while ((claims & senders_wait) == 0) {
    if ((claims & closed) != 0) return Wait::closed;
    if (has_room_now(ring, claims)) {
      // ORDER: release; as in claim_quickly. Acquire if it fails: as above.
      if (ring.claims.compare_exchange_weak(claims, claims + one_reserved, memory_order_release,
                                            memory_order_acquire))
        return Wait::again;
      continue;
    }
    // From here on whoever makes room sees that somebody waits.
    ring.head.fetch_or(senders_wait, memory_order_relaxed);
    claims = ring.claims.fetch_or(senders_wait, memory_order_relaxed) | senders_wait;
    if (!has_room_now(ring, claims)) break;
    no_senders_wait(ring);  // it was made right before
    // ORDER: acquire; as above.
    claims = ring.claims.load(memory_order_acquire);
  }
  waiting_senders_.push(sender, std::move(waker));
  return Wait::pending;
}

void ChannelCore::leave(WaitingSender& sender) noexcept {
  Waker dropped;
  SpinGuard guard(lock);
  if (waiting_senders_.remove(sender, dropped)) {
    if (waiting_senders_.is_empty()) no_senders_wait(*ring_.load(memory_order_relaxed));
    return;
  }
  guard.unlock();
  sender.wait_until_notified();
  if (!sender.is_refused) unreserve();
}

void ChannelCore::serve_senders() noexcept {
  for (bool more = true; more;) {
    WakeBatch woken;
    SpinGuard guard(lock);
    Ring& ring = *ring_.load(memory_order_relaxed);
    // While the bit is set nobody else takes room, and what was reserved before has its own.
    while (!waiting_senders_.is_empty() && !woken.is_full() &&
           has_room_now(ring, ring.claims.load(memory_order_relaxed))) {
      // ORDER: release; as in claim_quickly.
      ring.claims.fetch_add(one_reserved, memory_order_release);
      woken.take(waiting_senders_.first());
    }
    if (waiting_senders_.is_empty()) no_senders_wait(ring);
    more = !waiting_senders_.is_empty() && woken.is_full();
    guard.unlock();
    woken.wake_all();
  }
}

void ChannelCore::no_senders_wait(Ring& ring) noexcept {
  ring.head.fetch_and(~senders_wait, memory_order_relaxed);
  ring.claims.fetch_and(~senders_wait, memory_order_relaxed);
}

// --- Receiving. ---

ChannelCore::Wait ChannelCore::wait_for_message(Waiter& receiver, const Context& cx) {
  if (size() != 0) return Wait::again;  // without a stop to the sender that is about to fill it
  Waker waker = cx.waker();
  const SpinGuard guard(lock);
  Ring& ring = *ring_.load(memory_order_relaxed);
  // ORDER: acquire; who finds it closed sees what was done before.
  const std::uint64_t claims = ring.claims.fetch_or(receivers_wait, memory_order_acquire);
  const bool is_over = (claims & closed) != 0 && reserved(claims) == 0;
  const bool is_empty = size() == 0;
  if (is_empty && !is_over) {
    waiting_receivers_.push(receiver, std::move(waker));
    return Wait::pending;
  }
  if (waiting_receivers_.is_empty()) no_receivers_wait();
  return is_empty ? Wait::closed : Wait::again;
}

void ChannelCore::no_receivers_wait() noexcept {
  ring_.load(memory_order_relaxed)->claims.fetch_and(~receivers_wait, memory_order_relaxed);
}

void ChannelCore::wake_receiver() noexcept {
  WakeBatch woken;
  SpinGuard guard(lock);
  if (!waiting_receivers_.is_empty()) {
    woken.take(waiting_receivers_.first());
    if (waiting_receivers_.is_empty()) no_receivers_wait();
  }
  guard.unlock();
  woken.wake_all();
}

void ChannelCore::leave(Waiter& receiver) noexcept {
  Waker dropped;
  SpinGuard guard(lock);
  if (waiting_receivers_.remove(receiver, dropped)) {
    if (waiting_receivers_.is_empty()) no_receivers_wait();
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
  if (waiting_receivers_.is_empty()) no_receivers_wait();
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
    while (!waiting_senders_.is_empty() && !woken.is_full()) {
      auto& sender = waiting_senders_.first<WaitingSender>();
      sender.is_refused = true;
      woken.take(sender);
    }
    if (waiting_senders_.is_empty()) no_senders_wait(ring);
    more = !waiting_senders_.is_empty() && woken.is_full();
    guard.unlock();
    woken.wake_all();
  }
}

void ChannelCore::wake_receivers() noexcept {
  lock.lock();
  no_receivers_wait();
  notify_all_and_unlock(lock, waiting_receivers_);
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

/// Oldest first: a sealed ring that was found empty stays so, and then 0 was right when the newest
/// was looked at.
std::size_t ChannelCore::size() const noexcept {
  std::size_t sum = 0;
  for (const Ring* ring = &oldest_;; ring = ring->newer.read()) {
    // ORDER: acquire; the claims are no older than the head.
    const std::uint32_t head = position(ring->head.load(memory_order_acquire));
    // ORDER: acquire; sees `newer` of a sealed ring.
    const std::uint64_t claims = ring->claims.load(memory_order_acquire);
    sum += position(claims) - head;
    if ((claims & sealed) == 0) return sum;
  }
}

std::size_t ChannelCore::free_room() const noexcept {
  const Ring& ring = newest();
  const std::uint32_t head = position(ring.head.load(memory_order_relaxed));
  const std::int32_t taken = used(ring.claims.load(memory_order_relaxed), head);
  // The two are not of one moment.
  return static_cast<std::size_t>(ring.capacity - std::clamp(taken, 0, ring.capacity));
}

}  // namespace rouse::sync
