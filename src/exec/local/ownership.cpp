#include "exec/local/ownership.hpp"

namespace rouse::internal {

bool Ownership::own_after_guest(Unparker wake_guest) noexcept {
  Lock lock(mutex_);
  std::uint32_t seen = state_.load(memory_order_relaxed);
  bool is_lent = false;
  do {
    if ((seen & (owned | wanted)) != 0) return false;
    is_lent = (seen & lent) != 0;
    // ORDER: acquire; as in `own`: an owner may have left meanwhile, without the lock.
  } while (!state_.compare_exchange_strong(seen, is_lent ? seen | wanted : owned,
                                           memory_order_acquire, memory_order_relaxed));
  if (!is_lent) return true;
  wake_guest();
  gave_way_.wait(lock, [this] { return !has(lent); });
  return true;
}

bool Ownership::lend(Guest& guest) noexcept {
  remove(guest);
  const Lock lock(mutex_);
  std::uint32_t seen = state_.load(memory_order_relaxed);
  // ORDER: acquire; as in `own`. An owner may come and leave meanwhile.
  while (!state_.compare_exchange_strong(seen, seen == nobody ? lent : seen | awaited,
                                         memory_order_acquire, memory_order_relaxed)) {
  }
  if (seen == nobody) return true;
  guest.waits_ = true;
  guest.next_ = first_;
  first_ = &guest;
  return false;
}

void Ownership::give_back() noexcept {
  const Lock lock(mutex_);
  const std::uint32_t seen = state_.load(memory_order_relaxed);
  if ((seen & lent) == 0) return;  // it was taken
  if ((seen & wanted) != 0) {
    state_.store(owned | (seen & awaited), memory_order_relaxed);
    return gave_way_.notify_one();
  }
  // ORDER: release; to the next owner.
  state_.store(nobody, memory_order_release);
  tell_guests();
}

void Ownership::remove(Guest& guest) noexcept {
  if (!guest.waits_) return;
  const Lock lock(mutex_);
  Guest** link = &first_;
  while (*link != &guest) link = &(*link)->next_;
  *link = guest.next_;
  guest.waits_ = false;
}

bool Ownership::take_from_guest() noexcept {
  const Lock lock(mutex_);
  const std::uint32_t seen = state_.load(memory_order_relaxed);
  if ((seen & wanted) != 0) return false;
  state_.store(owned | (seen & awaited), memory_order_relaxed);
  return true;
}

/// They stay in the list until they look.
void Ownership::tell_guests() noexcept {
  for (Guest* guest = first_; guest != nullptr; guest = guest->next_) guest->tell_();
}

}  // namespace rouse::internal
