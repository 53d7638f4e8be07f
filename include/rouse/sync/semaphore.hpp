// Semaphore: a number of permits that tasks take and give back. Fair: who came first is served
// first, also if a later one wants fewer permits. No permit is overtaken while somebody waits.
//
//   Semaphore connections(100);
//   auto permit = co_await connections.acquire();      // given back when `permit` ends
//
// The state is one word: the permits, whether somebody waits, whether it is closed. Without waiters
// taking and giving are one exchange of it. While `has_waiters` is set only the holder of the lock
// changes the word, and permits go to the waiters in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/spin_lock.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/sync/wait_list.hpp"

namespace rouse::sync {

class Acquiring;
template <class Owner>
class BasicPermit;
template <class Owner>
class BasicAcquire;

/// Refers to the semaphore, which must outlive it.
using Permit = BasicPermit<class Semaphore*>;
using Acquire = BasicAcquire<class Semaphore*>;

class ROUSE_API Semaphore {
 public:
  static constexpr std::size_t max_permits = SIZE_MAX >> 3;

  explicit constexpr Semaphore(std::size_t permits) noexcept : state_(permits << permit_shift) {
    ROUSE_ASSERT(permits <= max_permits, "a Semaphore of more than Semaphore::max_permits");
  }

  /// Takes `n` permits. Completes when all who came before are served and n permits are there.
  /// Fails with errc::operation_canceled if the semaphore is closed. Dropping it gives up its place
  /// in the queue, and what it was given meanwhile goes to the next. Any thread.
  [[nodiscard]] Acquire acquire(std::uint32_t n = 1) noexcept;
  /// The same; future and permit own the semaphore, through a std::shared_ptr or the like.
  template <class Owner>
  [[nodiscard]] static BasicAcquire<Owner> acquire_owned(Owner semaphore, std::uint32_t n = 1);

  /// Takes `n` permits if they are there and nobody waits.
  [[nodiscard]] std::optional<Permit> try_acquire(std::uint32_t n = 1) noexcept;
  template <class Owner>
  [[nodiscard]] static std::optional<BasicPermit<Owner>> try_acquire_owned(Owner semaphore,
                                                                           std::uint32_t n = 1);

  /// Adds permits, or gives back those of a permit that was forgotten.
  void add_permits(std::size_t n) noexcept { add_permits(n, state_.load(memory_order_relaxed)); }
  /// The same, if most likely there is none now: a guess costs less than to look.
  void add_permits_to_none(std::size_t n) noexcept { add_permits(n, 0); }
  /// Takes away up to `n` permits for good; says how many there were to take.
  std::size_t forget_permits(std::size_t n) noexcept;
  [[nodiscard]] std::size_t available_permits() const noexcept {
    return state_.load(memory_order_relaxed) >> permit_shift;
  }

  /// Whoever waits, now or later, fails. Permits that are out stay valid.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // ORDER: acquire; sees what was done before `close`.
    return (state_.load(memory_order_acquire) & closed) != 0;
  }

  /// True: `n` permits were taken.
  [[nodiscard]] bool try_take(std::uint32_t n) noexcept {
    return try_take(n, state_.load(memory_order_relaxed));
  }
  /// The same, if most likely there are just `n`: a guess costs less than to look.
  [[nodiscard]] bool try_take_all(std::uint32_t n) noexcept {
    return try_take(n, std::size_t{n} << permit_shift);
  }

 private:
  friend class Acquiring;

  static constexpr std::size_t closed = 1;
  static constexpr std::size_t has_waiters = 2;
  static constexpr unsigned permit_shift = 2;

  /// Open, nobody waits, and n permits are there.
  static constexpr bool has(std::size_t state, std::uint32_t n) noexcept {
    return (state & (closed | has_waiters)) == 0 && state >> permit_shift >= n;
  }
  static std::size_t plus(std::size_t state, std::size_t n) noexcept {
    ROUSE_ASSERT(n <= max_permits - (state >> permit_shift),
                 "a Semaphore got more than Semaphore::max_permits: a permit was given back twice");
    return state + (n << permit_shift);
  }

  bool try_take(std::uint32_t n, std::size_t state) noexcept {
    while (has(state, n)) {
      // ORDER: acquire; sees what the last holder did.
      if (state_.compare_exchange_weak(state, state - (std::size_t{n} << permit_shift),
                                       memory_order_acquire, memory_order_relaxed)) [[likely]]
        return true;
    }
    return false;
  }
  void add_permits(std::size_t n, std::size_t state) noexcept {
    while ((state & has_waiters) == 0) {
      // ORDER: release; publishes what the holder did to the next one.
      if (state_.compare_exchange_weak(state, plus(state, n), memory_order_release,
                                       memory_order_relaxed)) [[likely]]
        return;
    }
    add_permits_contended(n);
  }
  void add_permits_contended(std::size_t n) noexcept;
  void serve(SpinGuard& guard) noexcept;
  Poll<bool> wait(Acquiring& waiter, const Context& cx) noexcept;
  void leave(Acquiring& waiter) noexcept;

  atomic<std::size_t> state_;
  SpinLock lock_;
  WaitList waiters_;
};

/// One who wants permits of a semaphore: what all futures that lock something are made of.
class ROUSE_API Acquiring : public Waiter {
 public:
  Acquiring(Semaphore& semaphore, std::uint32_t n) noexcept : needed_(n), semaphore_(&semaphore) {}
  Acquiring(Acquiring&&) noexcept = default;
  ~Acquiring() {
    if (!is_fresh()) semaphore_->leave(*this);
  }

  /// True: the caller has the permits. False: the semaphore is closed.
  Poll<bool> poll(Context& cx) noexcept {
    if (!cx.take_budget()) return pending;
    if (is_fresh() && semaphore_->try_take(needed_)) [[likely]]
      return Poll<bool>::ready(true);
    return wait(cx);
  }
  /// The same for all the permits there are.
  Poll<bool> poll_all(Context& cx) noexcept {
    if (!cx.take_budget()) return pending;
    if (is_fresh() && semaphore_->try_take_all(needed_)) [[likely]]
      return Poll<bool>::ready(true);
    return wait(cx);
  }
  [[nodiscard]] std::uint32_t permits() const noexcept { return needed_; }

 private:
  friend class Semaphore;

  Poll<bool> wait(Context& cx) noexcept;

  bool refused_ = false;  // notified, but without permits: the semaphore was closed
  std::uint32_t needed_;
  Semaphore* semaphore_;
};

/// Permits that are given back when this ends. Owner: Semaphore* or a smart pointer to one.
template <class Owner>
class [[nodiscard("the permit is given back at once: keep it in a variable")]] BasicPermit {
 public:
  BasicPermit(Owner semaphore, std::uint32_t n) noexcept
      : semaphore_(std::move(semaphore)), permits_(n) {}
  BasicPermit(BasicPermit&& other) noexcept
      : semaphore_(std::exchange(other.semaphore_, nullptr)),
        permits_(std::exchange(other.permits_, 0)) {}
  BasicPermit& operator=(BasicPermit other) noexcept {
    std::swap(semaphore_, other.semaphore_);
    std::swap(permits_, other.permits_);
    return *this;
  }
  ~BasicPermit() { release(); }

  [[nodiscard]] std::uint32_t permits() const noexcept { return permits_; }
  /// Gives the permits back now.
  void release() noexcept {
    if (permits_ != 0) semaphore_->add_permits(std::exchange(permits_, 0));
  }
  /// The permits are never given back.
  void forget() noexcept { permits_ = 0; }
  /// Takes over the permits of another one of the same semaphore.
  void merge(BasicPermit other) noexcept {
    ROUSE_ASSERT(semaphore_ == other.semaphore_,
                 "merge of permits of two semaphores: keep them apart");
    permits_ += std::exchange(other.permits_, 0);
  }
  /// A permit with `n` of these permits; null if there are fewer.
  [[nodiscard]] std::optional<BasicPermit> split(std::uint32_t n) {
    if (n > permits_) return std::nullopt;
    permits_ -= n;
    return std::optional<BasicPermit>(std::in_place, semaphore_, n);
  }

 private:
  Owner semaphore_;
  std::uint32_t permits_;
};

template <class Owner>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] BasicAcquire
    : public Fallible<BasicAcquire<Owner>, BasicPermit<Owner>> {
 public:
  BasicAcquire(Owner semaphore, std::uint32_t n) noexcept
      : acquiring_(*semaphore, n), semaphore_(std::move(semaphore)) {}

  Poll<Result<BasicPermit<Owner>>> poll_result(Context& cx) {
    return acquiring_.poll(cx).map([this](bool acquired) -> Result<BasicPermit<Owner>> {
      if (!acquired) return std::errc::operation_canceled;
      return BasicPermit<Owner>(std::move(semaphore_), acquiring_.permits());
    });
  }

 private:
  Acquiring acquiring_;
  Owner semaphore_;
};

inline Acquire Semaphore::acquire(std::uint32_t n) noexcept { return Acquire(this, n); }

template <class Owner>
BasicAcquire<Owner> Semaphore::acquire_owned(Owner semaphore, std::uint32_t n) {
  return BasicAcquire<Owner>(std::move(semaphore), n);
}

inline std::optional<Permit> Semaphore::try_acquire(std::uint32_t n) noexcept {
  return try_acquire_owned(this, n);
}

template <class Owner>
std::optional<BasicPermit<Owner>> Semaphore::try_acquire_owned(Owner semaphore, std::uint32_t n) {
  if (!semaphore->try_take(n)) return std::nullopt;
  return std::optional<BasicPermit<Owner>>(std::in_place, std::move(semaphore), n);
}

}  // namespace rouse::sync
