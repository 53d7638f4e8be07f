// Semaphore: a number of permits that tasks take and give back. Fair: who came first is served
// first, also if a later one wants fewer permits.
//
//   Semaphore connections(100);
//   auto permit = co_await connections.acquire();      // given back when `permit` ends
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/sync/permits.hpp"

namespace rouse::sync {

template <class Owner>
class BasicPermit;
template <class Owner>
class BasicAcquire;

/// Refers to the semaphore, which must outlive it.
using Permit = BasicPermit<class Semaphore*>;
using Acquire = BasicAcquire<class Semaphore*>;

class Semaphore {
 public:
  static constexpr std::size_t max_permits = Permits::max;

  explicit constexpr Semaphore(std::size_t permits) noexcept : permits_(permits) {}

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
  void add_permits(std::size_t n) noexcept { permits_.give(n); }
  /// Takes away up to `n` permits for good; says how many there were to take.
  std::size_t forget_permits(std::size_t n) noexcept { return permits_.forget(n); }
  [[nodiscard]] std::size_t available_permits() const noexcept { return permits_.available(); }

  /// Whoever waits, now or later, fails. Permits that are out stay valid.
  void close() noexcept { permits_.close(); }
  [[nodiscard]] bool is_closed() const noexcept { return permits_.is_closed(); }

 private:
  template <class>
  friend class BasicAcquire;

  Permits permits_;
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
      : semaphore_(std::move(semaphore)), acquiring_(semaphore_->permits_, n) {}

  Poll<Result<BasicPermit<Owner>>> poll_result(Context& cx) {
    ROUSE_ASSERT(semaphore_, "acquire() was polled again after it was ready: acquire anew");
    return acquiring_.poll(cx).map([this](bool acquired) -> Result<BasicPermit<Owner>> {
      if (!acquired) return std::errc::operation_canceled;
      return BasicPermit<Owner>(std::exchange(semaphore_, nullptr), acquiring_.needed());
    });
  }
  /// A plain pointer does not keep the semaphore alive.
  [[nodiscard]] bool borrows() const noexcept { return std::is_pointer_v<Owner>; }

 private:
  Owner semaphore_;
  Acquiring acquiring_;  // ends first: it may be in the semaphore's queue
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
  if (!semaphore->permits_.try_take(n)) return std::nullopt;
  return std::optional<BasicPermit<Owner>>(std::in_place, std::move(semaphore), n);
}

}  // namespace rouse::sync
