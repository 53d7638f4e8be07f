// Who fires timers: the thread of a worker, between two polls and before it sleeps
// (PoolCore::drive, LocalCore, through runtime/drivers.cpp); for one in a long poll, an idle worker
// (StallWatch, PoolCore::help_stuck); a thread in block_on its own (park/block_on.cpp).
#include "time/timers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/recorder.hpp"

namespace rouse::internal {
namespace {

constinit thread_local TimeContext* current_context = nullptr;

/// The most nodes that cascade while the lock is held.
constexpr std::size_t max_moves = 256;
/// The most timers that fire before tasks get their turn.
constexpr std::size_t max_fired = 256;
/// And the most times that the lock is taken.
constexpr unsigned max_rounds = 16;

void wake_all(Waker* wakers, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) std::move(wakers[i]).wake();
}

}  // namespace

TimeContext* TimeContext::current() noexcept { return current_context; }
TimeContext* TimeContext::exchange_current(TimeContext* context) noexcept {
  return std::exchange(current_context, context);
}

// --- Any thread. ---

Timers::Inserted Timers::insert(TimerEntry& entry, Waker waker) noexcept {
  const std::uint64_t tick = TimerWheel::tick_after(entry.deadline);
  const SpinGuard guard(lock_);
  if (closed_) return Inserted::closed;     // the waker is a parameter: dropped after the guard
  entry.waker_.write() = std::move(waker);  // it had none: nothing is dropped
  wheel_.insert(entry, tick);
  entry.place_.store(reinterpret_cast<std::uintptr_t>(this), memory_order_relaxed);
  return tick < wakes_up_at_ ? Inserted::before_wake_up : Inserted::yes;
}

/// For the lock holder: the entry is in here. This is the last access to it.
Waker Timers::take_out(TimerEntry& entry, std::uintptr_t place) noexcept {
  Waker waker = std::move(entry.waker_.write());
  // ORDER: release; whoever sees it may free the entry.
  entry.place_.store(place, memory_order_release);
  return waker;
}

void Timers::cancel(TimerEntry& entry) noexcept {
  Waker dropped;  // after the guard
  const SpinGuard guard(lock_);
  if (!is_in_here(entry)) return;
  wheel_.remove(entry);
  dropped = take_out(entry, TimerEntry::fresh);
}

bool Timers::keep_waker(TimerEntry& entry, const Context& cx, const Timers* here) {
  Waker dropped;  // after the guard
  {
    const SpinGuard guard(lock_);
    if (!is_in_here(entry)) return false;
    if (owner_may_block_ && here != nullptr && here != this) {
      wheel_.remove(entry);
      dropped = take_out(entry, TimerEntry::fresh);
      return false;
    }
    if (entry.waker_.read().will_wake(cx.waker())) return true;
  }
  Waker waker = cx.waker();
  const SpinGuard guard(lock_);
  if (!is_in_here(entry)) return false;
  std::swap(entry.waker_.write(), waker);
  return true;  // the guard goes first, then the old waker
}

bool Timers::move(TimerEntry& entry, time::Instant deadline, bool is_owner) noexcept {
  Waker woken;  // after the guard
  const std::uint64_t tick = TimerWheel::tick_after(deadline);
  {
    const SpinGuard guard(lock_);
    if (!is_in_here(entry)) return false;
    wheel_.remove(entry);
    if (is_owner && tick >= wakes_up_at_) {
      entry.deadline = deadline;
      wheel_.insert(entry, tick);
      return true;
    }
    woken = take_out(entry, TimerEntry::fresh);
  }
  std::move(woken).wake();
  return false;
}

// --- The owner. ---

bool Timers::note_awake() noexcept {
  const SpinGuard guard(lock_);
  wakes_up_at_ = 0;
  return !wheel_.empty();
}

std::size_t Timers::fire_due(const time::Clock& clock) noexcept {
  return note_awake() ? fire_for_owner(clock) : 0;  // the array there costs something, too
}

std::size_t Timers::fire_for_owner(const time::Clock& clock) noexcept {
  std::array<Waker, batch_size> wakers;
  bool more = true;
  std::size_t fired = 0;
  for (unsigned round = 0; more && round < max_rounds && fired < max_fired; ++round) {
    const std::size_t count = take_due(clock, wakers.data(), more);
    if (count != 0) recorder::record(recorder::What::timers, 0, count);
    wake_all(wakers.data(), count);
    fired += count;
  }
  return fired;
}

std::size_t Timers::take_due(const time::Clock& clock, Waker* wakers, bool& more) noexcept {
  const SpinGuard guard(lock_);
  more = false;
  if (wheel_.empty()) return 0;
  more = !wheel_.advance(TimerWheel::tick_before(clock.now()), max_moves) || wheel_.is_dealing();
  for (std::size_t count = 0; count < batch_size; ++count) {
    WheelNode* node = wheel_.pop_due();
    if (node == nullptr) return count;
    wakers[count] = take_out(static_cast<TimerEntry&>(*node), TimerEntry::fired);
    __builtin_prefetch(wakers[count].as_raw().data(), 1);  // what the wake will touch
  }
  more = true;
  return batch_size;
}

time::Nanoseconds Timers::sleep_time(const time::Clock& clock) noexcept {
  const SpinGuard guard(lock_);
  wakes_up_at_ = wheel_.next_tick();
  if (wakes_up_at_ == TimerWheel::never) return time::Nanoseconds::max();
  const time::Instant now = clock.now();
  const time::Instant next = TimerWheel::time_of(wakes_up_at_);
  return next > now ? next - now : time::Nanoseconds::zero();
}

time::Instant Timers::next() noexcept {
  const SpinGuard guard(lock_);
  wakes_up_at_ = TimerWheel::never;  // whatever comes, the owner is to see it
  const std::uint64_t tick = wheel_.next_tick();
  return tick == TimerWheel::never ? time::Instant::max() : TimerWheel::time_of(tick);
}

void Timers::open(time::Instant now, bool owner_may_block) noexcept {
  const SpinGuard guard(lock_);
  wheel_.restart(TimerWheel::tick_before(now));
  wakes_up_at_ = 0;
  closed_ = false;
  owner_may_block_ = owner_may_block;
}

void Timers::close() noexcept {
  std::array<Waker, batch_size> wakers;
  while (const std::size_t count = take_any(wakers.data())) wake_all(wakers.data(), count);
}

std::size_t Timers::take_any(Waker* wakers) noexcept {
  const SpinGuard guard(lock_);
  closed_ = true;
  std::size_t count = 0;
  for (; count < batch_size; ++count) {
    WheelNode* node = wheel_.pop_any();
    if (node == nullptr) break;
    wakers[count] = take_out(static_cast<TimerEntry&>(*node), TimerEntry::fresh);
  }
  return count;
}

// --- Those that nobody uses now. ---

class TimersStore {
 public:
  constexpr TimersStore() noexcept = default;

  Timers* take() noexcept {
    const SpinGuard guard(lock_);
    Timers* taken = first_;
    if (taken) first_ = taken->next_free_;
    return taken;
  }
  void keep(Timers& timers) noexcept {
    const SpinGuard guard(lock_);
    timers.next_free_ = std::exchange(first_, &timers);
  }

 private:
  SpinLock lock_;
  Timers* first_ = nullptr;
};

namespace {
constinit TimersStore unused_timers;
}  // namespace

Timers& acquire_timers(time::Instant now, bool owner_may_block) {
  Timers* timers = unused_timers.take();
  if (timers == nullptr) timers = new Timers();
  timers->open(now, owner_may_block);
  return *timers;
}

void release_timers(Timers& timers) noexcept {
  timers.close();
  unused_timers.keep(timers);
}

}  // namespace rouse::internal
