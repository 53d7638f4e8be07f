#include "rouse/sync/internal/broadcast_core.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "rouse/base/assert.hpp"

namespace rouse::internal {

namespace {
std::size_t ring_size(std::size_t capacity) {
  ROUSE_ASSERT(capacity > 0, "broadcast(0): a channel that keeps no value; give it room for one");
  return std::bit_ceil(capacity);
}
}  // namespace

BroadcastCore::BroadcastCore(std::size_t capacity)
    : capacity_(capacity), mask_(ring_size(capacity) - 1), ring_(new Slot[ring_size(capacity)]) {}

std::size_t BroadcastCore::send(RefPtr<BroadcastNode>& node) noexcept {
  RefPtr<BroadcastNode> overwritten;
  lock_.lock();
  const std::size_t receivers = receivers_.load(memory_order_relaxed);
  if (receivers == 0) {
    lock_.unlock();
    return 0;
  }
  const Position position = tail();
  if (position >= capacity_) std::swap(overwritten, slot(position - capacity_).node);
  slot(position).node = std::move(node);
  slot(position).missing = receivers;
  // ORDER: release; publishes the slot to whoever sees the tail without the lock.
  word_.store(word_.load(memory_order_relaxed) + 2, memory_order_release);
  notify_all_and_unlock(lock_, receivers_waiting_);
  return receivers;
}

void BroadcastCore::remove_sender() noexcept {
  // ORDER: acq_rel; what all senders did comes before the close.
  if (senders_.fetch_sub(1, memory_order_acq_rel) != 1) return;
  lock_.lock();
  // ORDER: release; whoever sees the close sees the last tail.
  word_.store(word_.load(memory_order_relaxed) | closed_bit, memory_order_release);
  notify_all_and_unlock(lock_, receivers_waiting_);
}

bool BroadcastCore::poll_no_receiver(Waiter& waiter, Context& cx) {
  return wait_until(lock_, senders_waiting_, waiter, cx, [this] { return receivers() == 0; });
}

BroadcastCore::Position BroadcastCore::add_receiver() noexcept {
  const SpinGuard guard(lock_);
  receivers_.fetch_add(1, memory_order_relaxed);
  return tail();
}

void BroadcastCore::copy_receiver(Position next) noexcept {
  const SpinGuard guard(lock_);
  receivers_.fetch_add(1, memory_order_relaxed);
  for (Position at = std::max(next, oldest()); at < tail(); ++at) ++slot(at).missing;
}

void BroadcastCore::remove_receiver(Position next) noexcept {
  lock_.lock();
  // ORDER: release; a sender that sees no receiver sees what they did.
  const bool was_last = receivers_.fetch_sub(1, memory_order_release) == 1;
  const Position end = tail();
  lock_.unlock();
  for (; next < end; ++next) {
    RefPtr<BroadcastNode> dropped;  // after the lock was given back
    const SpinGuard guard(lock_);
    next = std::max(next, oldest());
    if (next < end) dropped = had(next);
  }
  if (!was_last) return;
  lock_.lock();
  notify_all_and_unlock(lock_, senders_waiting_);
}

bool BroadcastCore::poll_receivable(Waiter& waiter, Position next, Context& cx) {
  return wait_until(lock_, receivers_waiting_, waiter, cx,
                    [&] { return tail() != next || is_closed(); });
}

RefPtr<BroadcastNode> BroadcastCore::take(Position& next, std::uint64_t& missed) noexcept {
  if (next == tail()) return nullptr;
  const SpinGuard guard(lock_);
  const Position first = std::max(next, oldest());
  missed += first - next;
  next = first + 1;
  return had(first);
}

std::size_t BroadcastCore::size(Position next) const noexcept {
  return static_cast<std::size_t>(std::min<Position>(tail() - next, capacity_));
}

/// One more receiver has had the value. The last one removes it from the ring.
RefPtr<BroadcastNode> BroadcastCore::had(Position position) noexcept {
  Slot& slot_of_it = slot(position);
  if (--slot_of_it.missing == 0) return std::move(slot_of_it.node);
  return slot_of_it.node;
}

}  // namespace rouse::internal
