#include "io/io_source.hpp"

#include <utility>

#include "rouse/base/assert.hpp"

namespace rouse::internal {
namespace {

constexpr std::size_t batch_size = 16;
/// No tick has so many bits.
constexpr std::uint64_t no_tick = ~std::uint64_t{0};

}  // namespace

// --- Waiting. ---

/// False: it is ready after all.
bool IoSource::wait(io::Interest direction, Context& cx, io::Ready& now) {
  expect_watched(direction);
  ROUSE_ASSERT(
      direction != io::Interest::both,
      "poll_ready and poll_io without a ReadinessWaiter keep one waker for each direction: "
      "say Interest::readable or writable, or pass a waiter");
  Waker waker = cx.waker();  // cloned here and the old one dropped here: not under the lock
  const SpinGuard guard(lock_);
  if (!would_wait(direction, now)) return false;
  std::swap(slot(direction), waker);
  return true;
}

bool IoSource::poll_ready(ReadinessWaiter& waiter, io::Interest interest, Context& cx,
                          io::Ready& now) {
  if (!would_wait(interest, now)) {
    if (waiter.source_ != nullptr) leave(waiter);
    return true;
  }
  expect_watched(interest);
  Waker waker = cx.waker();
  SpinGuard guard(lock_);
  if (!would_wait(interest, now)) {
    guard.unlock();
    if (waiter.source_ != nullptr) leave(waiter);
    return true;
  }
  std::swap(waiter.waker_.write(), waker);
  waiter.interest_ = interest;
  waiter.source_ = this;
  if (!waiter.is_linked_) {
    waiter.since_ = tick_of(now.word());
    link(waiter);
  }
  return false;
}

void IoSource::expect_watched(io::Interest interest) const noexcept {
  const auto wanted = static_cast<std::uint8_t>(interest);
  ROUSE_ASSERT((wanted & ~watched_for_) == 0,
               "waiting for a direction in which this AsyncFd is not watched would last for ever: "
               "name it when you make the AsyncFd (Interest::both is the default)");
}

void IoSource::leave(ReadinessWaiter& waiter) noexcept {
  Waker waker;  // dropped after the lock
  const SpinGuard guard(lock_);
  if (waiter.is_linked_) unlink(waiter);
  std::swap(waiter.waker_.write(), waker);
  waiter.source_ = nullptr;
}

void IoSource::link(ReadinessWaiter& waiter) noexcept {
  waiter.insert_before(waiters_);
  waiter.is_linked_ = true;
}

void IoSource::unlink(ReadinessWaiter& waiter) noexcept {
  waiter.unlink();
  waiter.is_linked_ = false;
}

void IoSource::clear(io::Ready seen, std::uint64_t flags) noexcept {
  std::uint64_t word = seen.word();
  // ORDER: relaxed; whoever clears publishes nothing, and what the reactor adds later it tells by a
  // new tick.
  while (!ready_.compare_exchange_weak(word, word & ~flags, memory_order_relaxed,
                                       memory_order_relaxed)) {
    if (word >> generation_shift != seen.word() >> generation_shift) return;  // there is news
  }
}

// --- The reactor's part. ---

void IoSource::open(io::Interest interest) noexcept {
  watched_for_ = static_cast<std::uint8_t>(interest);
  const std::uint64_t word = ready_.load(memory_order_relaxed);
  ready_.store((word & ~io::Ready::flags) | watched_for_, memory_order_relaxed);
}

void IoSource::add_ready(std::uint64_t of_generation, std::uint64_t flags) noexcept {
  std::uint64_t word = ready_.load(memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    if (((word >> generation_shift) & generation_mask) != of_generation) return;
    next = (word | flags) + (std::uint64_t{1} << tick_shift);
    // ORDER: release; pairs with `ready`.
  } while (!ready_.compare_exchange_weak(word, next, memory_order_release, memory_order_relaxed));
  wake(flags, tick_of(next));
}

void IoSource::end() noexcept {
  // ORDER: release; pairs with `ready`.
  ready_.fetch_or(io::Ready::runtime_ended, memory_order_release);
  wake(io::Ready::flags, no_tick);  // ends: nobody waits any more after that flag
}

namespace {

bool matches(std::uint64_t flags, io::Interest interest) noexcept {
  return (flags & io::Ready::flags_of(interest)) != 0;
}

}  // namespace

void IoSource::wake(std::uint64_t flags, std::uint64_t tick) noexcept {
  Waker reader;
  Waker writer;
  bool has_waiters = false;
  {
    const SpinGuard guard(lock_);
    if (matches(flags, io::Interest::readable)) std::swap(reader, reader_);
    if (matches(flags, io::Interest::writable)) std::swap(writer, writer_);
    has_waiters = !waiters_.empty();
  }
  if (reader) std::move(reader).wake();
  if (writer) std::move(writer).wake();
  if (has_waiters) wake_waiters(flags, tick);
}

/// Waiters that began to wait at `tick` already know of the event, and were perhaps just woken for
/// it: if all of them were woken again and waited again, this would never end. They come last.
void IoSource::wake_waiters(std::uint64_t flags, std::uint64_t tick) noexcept {
  for (bool more = true; more;) {
    more = false;
    Waker wakers[batch_size];
    std::size_t count = 0;
    {
      const SpinGuard guard(lock_);
      for (RingLink* link = waiters_.next(); link != &waiters_;) {
        auto& waiter = static_cast<ReadinessWaiter&>(*link);
        if (waiter.since_ == tick) break;
        link = waiter.next();
        if (!matches(flags, waiter.interest_)) continue;
        if (count == batch_size) {
          more = true;
          break;
        }
        wakers[count++] = std::move(waiter.waker_.write());
        unlink(waiter);
      }
    }
    for (std::size_t i = 0; i < count; ++i) std::move(wakers[i]).wake();
  }
}

void IoSource::retire() noexcept {
  Waker reader;
  Waker writer;
  {
    const SpinGuard guard(lock_);
    ROUSE_ASSERT(
        waiters_.empty(),
        "a socket or AsyncFd was destroyed while a future of it still waits: keep it alive "
        "longer than its futures");
    std::swap(reader_, reader);
    std::swap(writer_, writer);
    std::uint64_t word = ready_.load(memory_order_relaxed);
    const std::uint64_t next = ((word >> generation_shift) + 1) & generation_mask;
    // Against the reactor, which may hold an event of the old generation just now.
    // ORDER: relaxed; the next owner is told by the reactor's lock.
    while (!ready_.compare_exchange_weak(
        word, (word >> tick_shift << tick_shift) | (next << generation_shift), memory_order_relaxed,
        memory_order_relaxed)) {
    }
  }
}

}  // namespace rouse::internal
