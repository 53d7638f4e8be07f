// Ownership: which thread runs a LocalCore.
//
//   nobody --own--> owned --leave--> nobody
//   nobody --lend--> lent --give_back--> nobody, or owned if an owner waits for it
//
// An owner is a thread in `run` or `block_on`, or one that ends the executor. A guest is a LocalSet
// beside a current-thread runtime: it runs the runtime only while no owner does, and gives way to
// one that comes. Guests that came too late wait: they are told when there is no owner any more.
//
// All but `own` of what is nobody's and `leave` without guests that wait happens under the lock.
// The marks `wanted` and `awaited` are in the same word as the owner: so whoever gives it up sees
// who waits.
#pragma once

#include <cstdint>

#include "rouse/base/thread.hpp"
#include "rouse/exec/internal/timer_driver.hpp"

namespace rouse::internal {

class Ownership {
 public:
  /// Whom to tell that there is no owner any more.
  class Guest {
   public:
    explicit Guest(Unparker tell) noexcept : tell_(tell) {}

   private:
    friend class Ownership;
    const Unparker tell_;
    bool waits_ = false;
    Guest* next_ = nullptr;
  };

  /// This thread is the owner, once a guest has given way. False: another thread is or will be.
  [[nodiscard]] bool own(Unparker wake_guest) noexcept {
    std::uint32_t seen = nobody;
    // ORDER: acquire; what the owner before did.
    if (state_.compare_exchange_strong(seen, owned, memory_order_acquire, memory_order_relaxed))
        [[likely]] {
      return true;
    }
    return own_after_guest(wake_guest);
  }
  void leave() noexcept {
    // ORDER: release; to the next owner.
    if ((state_.exchange(nobody, memory_order_release) & awaited) != 0) [[unlikely]] {
      const Lock lock(mutex_);
      tell_guests();
    }
  }

  /// False: it has an owner, or another guest. Then `guest` is told when that has changed.
  [[nodiscard]] bool lend(Guest& guest) noexcept;
  void give_back() noexcept;
  /// The guest does not wait any more.
  void remove(Guest& guest) noexcept;
  /// The guest's own thread becomes the owner. False: another waits to be.
  [[nodiscard]] bool take_from_guest() noexcept;

  /// Whether the guest is to give way.
  [[nodiscard]] bool is_wanted() const noexcept { return has(wanted); }
  /// For a guest that waits. False: it was told, and has to `lend` again: another owner may have
  /// come meanwhile, who knows of no guest.
  [[nodiscard]] bool is_awaited() const noexcept { return has(awaited); }
  /// Whether no thread runs it.
  [[nodiscard]] bool is_free() const noexcept { return !has(owned | lent); }

 private:
  enum : std::uint32_t {
    nobody = 0,
    owned = 1,
    lent = 2,
    wanted = 4,   // with `lent`: an owner waits
    awaited = 8,  // with either: guests wait
  };
  /// Relaxed: who waits for a change is unparked after it.
  [[nodiscard]] bool has(std::uint32_t marks) const noexcept {
    return (state_.load(memory_order_relaxed) & marks) != 0;
  }
  [[gnu::noinline]] bool own_after_guest(Unparker wake_guest) noexcept;
  void tell_guests() noexcept;

  atomic<std::uint32_t> state_{nobody};
  Mutex mutex_;
  CondVar gave_way_;
  Guest* first_ = nullptr;  // of those that wait
};

}  // namespace rouse::internal
