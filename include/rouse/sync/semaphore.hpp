// Semaphore: a number of permits that tasks take and give back. Fair: first come, first served,
// even if a later one wants fewer permits.
//
//   Semaphore connections(100);
//   auto permit = co_await connections.acquire();      // given back when `permit` is destroyed
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/sync/internal/permits.hpp"

namespace rouse::sync {

template <class Owner>
class BasicPermit;
template <class Owner>
class BasicAcquire;

/// Refers to the semaphore, which must outlive it.
using Permit = BasicPermit<class Semaphore*>;
/// The future of Semaphore::acquire.
using Acquire = BasicAcquire<class Semaphore*>;

class Semaphore {
 public:
  /// The maximum number of permits.
  static constexpr std::size_t max_permits = internal::Permits::max;

  explicit constexpr Semaphore(std::size_t permits) noexcept : permits_(permits) {}

  /// Takes `n` permits. Completes when all earlier waiters are served and n permits are available.
  /// Cancel safety: dropping it gives up its place in the queue; permits that were already granted
  /// go to the next waiter.
  /// Threads: any.
  /// Errors: errc::operation_canceled if the semaphore is closed.
  [[nodiscard]] Acquire acquire(std::uint32_t n = 1) noexcept;
  /// The same; future and permit own the semaphore, through a std::shared_ptr or the like.
  template <class Owner>
  [[nodiscard]] static BasicAcquire<Owner> acquire_owned(Owner semaphore, std::uint32_t n = 1);

  /// Takes `n` permits if they are available and nobody waits.
  [[nodiscard]] std::optional<Permit> try_acquire(std::uint32_t n = 1) noexcept;
  /// As try_acquire; the permit owns the semaphore.
  template <class Owner>
  [[nodiscard]] static std::optional<BasicPermit<Owner>> try_acquire_owned(Owner semaphore,
                                                                           std::uint32_t n = 1);

  /// Adds permits, or gives back those of a forgotten permit.
  void add_permits(std::size_t n) noexcept { permits_.give(n); }
  /// Removes up to `n` permits for good; returns how many it removed.
  std::size_t forget_permits(std::size_t n) noexcept { return permits_.forget(n); }
  /// The number of available permits.
  [[nodiscard]] std::size_t available_permits() const noexcept { return permits_.available(); }

  /// All waiters, now and later, fail. Permits already granted stay valid.
  void close() noexcept { permits_.close(); }
  /// Whether `close` was called.
  [[nodiscard]] bool is_closed() const noexcept { return permits_.is_closed(); }

 private:
  template <class>
  friend class BasicAcquire;

  internal::Permits permits_;
};

/// Permits that are given back when this is destroyed. Owner: Semaphore* or a smart pointer to one.
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

  /// How many permits it holds.
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

/// What Semaphore::acquire gives: see there.
template <class Owner>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] BasicAcquire
    : public ResultFuture<BasicAcquire<Owner>, BasicPermit<Owner>> {
 public:
  BasicAcquire(Owner semaphore, std::uint32_t n) noexcept
      : semaphore_(std::move(semaphore)), acquiring_(n) {}
  BasicAcquire(BasicAcquire&&) noexcept = default;
  ~BasicAcquire() {
    if (!acquiring_.is_fresh()) semaphore_->permits_.leave(acquiring_);
  }

  Poll<Result<BasicPermit<Owner>>> poll_result(Context& cx) {
    ROUSE_ASSERT(semaphore_, "acquire() was polled again after it was ready: acquire anew");
    return semaphore_->permits_.poll_take(acquiring_, cx)
        .map([this](bool acquired) -> Result<BasicPermit<Owner>> {
          if (!acquired) return std::errc::operation_canceled;
          return BasicPermit<Owner>(std::exchange(semaphore_, nullptr), acquiring_.needed());
        });
  }
  /// A plain pointer does not keep the semaphore alive.
  [[nodiscard]] bool borrows() const noexcept { return std::is_pointer_v<Owner>; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BasicAcquire, "Semaphore", permits, &BasicAcquire::semaphore_)

 private:
  Owner semaphore_;
  internal::Acquiring acquiring_;
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
