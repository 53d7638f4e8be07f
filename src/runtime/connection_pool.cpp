#include "rouse/runtime/internal/connection_pool.hpp"

#include <algorithm>
#include <utility>

#include "rouse/base/internal/random.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::internal {
namespace {

/// Give or take 10%.
time::Nanoseconds spread(time::Nanoseconds lifetime) noexcept {
  if (lifetime == time::Nanoseconds::max()) return lifetime;
  const time::Nanoseconds thousandth = lifetime / 1000;
  return lifetime - 100 * thousandth + random_below(201) * thousandth;
}

}  // namespace

Poll<PoolTurn> ConnectionPool::poll_turn(PoolWaiter& waiter, Context& cx) {
  if (!cx.take_budget()) return pending;
  if (!waiter.is_fresh()) {
    if (!waiter.is_notified() && WaitList::keep_waker(lock_, waiter, cx)) return pending;
    waiter.reset();
    return Poll<PoolTurn>::ready(waiter.turn_);
  }
  {
    const SpinGuard guard(lock_);
    if (const auto turn = take_turn(waiter)) return Poll<PoolTurn>::ready(*turn);
  }
  Waker waker = cx.waker();
  const SpinGuard guard(lock_);
  if (const auto turn = take_turn(waiter)) return Poll<PoolTurn>::ready(*turn);
  waiters_.push(waiter, std::move(waker), waiter.had_turn_);
  ++counts_.waiting;
  ++counts_.waits;
  return pending;
}

/// Nothing: it has to wait.
std::optional<PoolTurn> ConnectionPool::take_turn(PoolWaiter& waiter) noexcept {
  if (is_closed_) return PoolTurn::closed;
  if (!idle_.empty()) {
    waiter.slot_ = &take_idle();
    waiter.had_turn_ = true;
    return PoolTurn::lent;
  }
  if (counts_.open < options_.max_open()) {
    ++counts_.open;
    return begin_to_open(waiter);
  }
  if (waiter.had_turn_ || counts_.waiting < options_.max_waiting()) return std::nullopt;
  ++counts_.refusals;
  return PoolTurn::full;
}

PoolTurn ConnectionPool::begin_to_open(PoolWaiter& waiter) noexcept {
  waiter.had_turn_ = true;
  ++counts_.opening;
  return PoolTurn::may_open;
}

/// The last one used.
PoolSlot& ConnectionPool::take_idle() noexcept {
  auto& slot = static_cast<PoolSlot&>(*idle_.next());
  slot.unlink();
  --counts_.idle;
  return slot;
}

/// Gives a connection, or a place for one (null), to the first in line. Unlocks.
void ConnectionPool::give(SpinGuard& guard, PoolSlot* slot) noexcept {
  if (!waiters_.empty()) {
    WakeBatch batch;
    auto& waiter = waiters_.first<PoolWaiter>();
    waiter.slot_ = slot;
    waiter.turn_ = slot != nullptr ? PoolTurn::lent : begin_to_open(waiter);
    waiter.had_turn_ = true;
    --counts_.waiting;
    batch.take(waiter);
    guard.unlock();
    return batch.wake_all();
  }
  bool is_news = false;
  if (slot != nullptr) {
    slot->insert_before(*idle_.next());
    ++counts_.idle;
    is_news = slot->idle_until_ < next_sweep_;
  } else {
    --counts_.open;
    is_news = is_closed_ && counts_.open == 0;
  }
  guard.unlock();
  if (is_news) news_.notify_one();
}

/// There is one. Unlocks.
void ConnectionPool::leave_to_janitor(SpinGuard& guard, PoolSlot& slot) noexcept {
  slot.insert_before(to_tidy_);
  ++counts_.tidying;
  guard.unlock();
  news_.notify_one();
}

PoolSlot* ConnectionPool::leave(PoolWaiter& waiter) noexcept {
  Waker dropped;
  SpinGuard guard(lock_);
  if (waiters_.remove(waiter, dropped)) {
    --counts_.waiting;
    return nullptr;
  }
  guard.unlock();
  waiter.wait_until_notified();
  if (waiter.turn_ == PoolTurn::may_open) open_failed();
  if (waiter.turn_ != PoolTurn::lent) return nullptr;
  guard.lock();
  if (has_janitor_ && !is_closed_) {
    give(guard, waiter.slot_);
    return nullptr;
  }
  waiter.slot_->is_worn_ = true;
  if (!has_janitor_) return waiter.slot_;
  leave_to_janitor(guard, *waiter.slot_);
  return nullptr;
}

bool ConnectionPool::is_fresh(const PoolSlot& slot) const noexcept {
  return slot.idle_until_ == time::Instant::max() || slot.idle_until_ > time::now();
}

void ConnectionPool::count_lend(PoolSlot& slot) noexcept {
  const SpinGuard guard(lock_);
  ++slot.lends_;
  ++counts_.lends;
}

bool ConnectionPool::opened(PoolSlot& slot) noexcept {
  slot.lives_until_ = time::add(time::now(), spread(options_.lifetime()));
  const SpinGuard guard(lock_);
  --counts_.opening;
  ++counts_.opened;
  return !is_closed_;
}

void ConnectionPool::open_failed() noexcept {
  SpinGuard guard(lock_);
  --counts_.opening;
  ++counts_.failed_opens;
  give(guard, nullptr);
}

bool ConnectionPool::give_back(PoolSlot& slot, bool is_clean, time::Nanoseconds idle) noexcept {
  const time::Instant now = time::now();
  slot.idle_until_ =
      std::min(time::add(now, std::min(idle, options_.idle_timeout())), slot.lives_until_);
  slot.is_worn_ = slot.idle_until_ <= now;
  SpinGuard guard(lock_);
  if (!has_janitor_) return false;
  if (is_closed_) slot.is_worn_ = true;
  is_clean && !slot.is_worn_ ? give(guard, &slot) : leave_to_janitor(guard, slot);
  return true;
}

bool ConnectionPool::give_up(PoolSlot& slot) noexcept {
  slot.is_worn_ = true;
  SpinGuard guard(lock_);
  if (!has_janitor_) return false;
  leave_to_janitor(guard, slot);
  return true;
}

void ConnectionPool::closed() noexcept {
  SpinGuard guard(lock_);
  ++counts_.closed;
  give(guard, nullptr);
}

bool ConnectionPool::needs_janitor() noexcept {
  const SpinGuard guard(lock_);
  return !std::exchange(has_janitor_, true);
}

void ConnectionPool::end_janitor(RingHead& left) noexcept {
  const SpinGuard guard(lock_);
  has_janitor_ = false;
  next_sweep_ = time::Instant::max();
  idle_.move_to(left);
  to_tidy_.move_to(left);
  counts_.tidying += std::exchange(counts_.idle, 0);
}

time::Instant ConnectionPool::sweep() noexcept {
  const time::Instant now = time::now();
  const SpinGuard guard(lock_);
  time::Instant next = time::Instant::max();
  for (RingLink* link = idle_.next(); link != &idle_;) {
    auto& slot = static_cast<PoolSlot&>(*link);
    link = link->next();
    if (slot.idle_until_ > now) {
      next = std::min(next, slot.idle_until_);
      continue;
    }
    slot.is_worn_ = true;
    slot.unlink();
    slot.insert_before(to_tidy_);
    --counts_.idle;
    ++counts_.tidying;
  }
  next_sweep_ = next;
  return next;
}

PoolSlot* ConnectionPool::next_to_tidy() noexcept {
  const SpinGuard guard(lock_);
  if (to_tidy_.empty()) return nullptr;
  auto& slot = static_cast<PoolSlot&>(*to_tidy_.next());
  slot.unlink();
  return &slot;
}

bool ConnectionPool::cleaned(PoolSlot& slot) noexcept {
  const time::Instant now = time::now();
  slot.idle_until_ = std::min(time::add(now, options_.idle_timeout()), slot.lives_until_);
  SpinGuard guard(lock_);
  if (is_closed_ || slot.idle_until_ <= now) return false;
  --counts_.tidying;
  ++counts_.cleaned;
  give(guard, &slot);
  return true;
}

void ConnectionPool::tidied_away() noexcept {
  SpinGuard guard(lock_);
  --counts_.tidying;
  ++counts_.closed;
  give(guard, nullptr);
}

bool ConnectionPool::is_over() noexcept {
  const SpinGuard guard(lock_);
  return is_closed_ && counts_.open == 0;
}

void ConnectionPool::close() noexcept {
  SpinGuard guard(lock_);
  is_closed_ = true;
  while (!idle_.empty()) {
    PoolSlot& slot = take_idle();
    slot.is_worn_ = true;
    slot.insert_before(to_tidy_);
    ++counts_.tidying;
  }
  while (!waiters_.empty()) {  // closed, it gets no new ones
    WakeBatch batch;
    while (!waiters_.empty() && !batch.is_full()) {
      auto& waiter = waiters_.first<PoolWaiter>();
      waiter.turn_ = PoolTurn::closed;
      --counts_.waiting;
      batch.take(waiter);
    }
    guard.unlock();
    batch.wake_all();
    guard.lock();
  }
  guard.unlock();
  news_.notify_one();
}

bool ConnectionPool::is_closed() noexcept {
  const SpinGuard guard(lock_);
  return is_closed_;
}

ConnectionMetrics ConnectionPool::metrics() noexcept {
  const SpinGuard guard(lock_);
  ConnectionMetrics metrics = counts_;
  metrics.lent = metrics.open - metrics.opening - metrics.idle - metrics.tidying;
  return metrics;
}

}  // namespace rouse::internal
