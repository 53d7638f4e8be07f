#include "rouse/sync/task_tracker.hpp"

namespace rouse::sync {

bool TaskTracker::close() const noexcept {
  // ORDER: acq_rel; as in `release_one`: what the tracked futures did comes before `wait`
  // completes.
  const std::size_t before = shared().word.fetch_or(closed, memory_order_acq_rel);
  if (before == 0) shared().ended.notify_waiters();
  return (before & closed) == 0;
}

bool TaskTracker::reopen() const noexcept {
  return (shared().word.fetch_and(~closed, memory_order_relaxed) & closed) != 0;
}

void TaskTracker::Shared::release_one() noexcept {
  // ORDER: acq_rel; publishes what the future did; the last has seen what all did.
  if (word.fetch_sub(one, memory_order_acq_rel) == (one | closed)) ended.notify_waiters();
}

Poll<> TaskTracker::Wait::poll(Context& cx) {
  if (shared_->load() == closed) return Poll<>::ready();
  return ended_.poll(cx);
}

}  // namespace rouse::sync
