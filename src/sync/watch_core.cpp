#include "rouse/sync/internal/watch_core.hpp"

namespace rouse::internal {

void WatchCore::publish_and_unlock() noexcept {
  // ORDER: release; publishes the value to whoever sees the version without the lock.
  word_.store(word_.load(memory_order_relaxed) + one_version, memory_order_release);
  notify_all_and_unlock(lock_, watchers_);
}

void WatchCore::remove_sender() noexcept {
  // ORDER: acq_rel; what all senders did comes before the close.
  if (senders_.fetch_sub(1, memory_order_acq_rel) != 1) return;
  lock_.lock();
  // ORDER: release; whoever sees the close sees the last value's version.
  word_.store(word_.load(memory_order_relaxed) | closed_bit, memory_order_release);
  notify_all_and_unlock(lock_, watchers_);
}

void WatchCore::remove_receiver() noexcept {
  // ORDER: acq_rel; what all receivers did is seen by a sender that sees none of them.
  if (receivers_.fetch_sub(1, memory_order_acq_rel) != 1) return;
  lock_.lock();
  notify_all_and_unlock(lock_, senders_waiting_);
}

WatchCore::Change WatchCore::poll_change(Waiter& waiter, Version seen, Context& cx) {
  Change change = Change::none;
  wait_until(lock_, watchers_, waiter, cx, [&] {
    change = change_since(seen);
    return change != Change::none;
  });
  return change;
}

bool WatchCore::poll_no_receiver(Waiter& waiter, Context& cx) {
  return wait_until(lock_, senders_waiting_, waiter, cx, [this] { return receivers() == 0; });
}

}  // namespace rouse::internal
