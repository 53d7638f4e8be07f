// CountingWaker: a waker that counts. A test uses it to see whether a future wakes, how often, and
// whether it stores or leaks wakers.
//
//   CountingWaker w;
//   Context cx(w.waker());
//   (void)future.poll(cx);
//   assert(w.clones() == 1);   // the future kept a waker
//   w.count();                 // how often it was woken
//
// Wakers cloned from it may outlive it, and may be used from any thread.
#pragma once

#include <cstddef>

#include "rouse/base/atomic.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/waker.hpp"

namespace rouse::testing {

class CountingWaker {
 public:
  CountingWaker()
      : counts_(make_ref<Counts>()), waker_(Waker::from_raw(Counts::raw(counts_.get()))) {}
  CountingWaker(const CountingWaker&) = delete;
  CountingWaker& operator=(const CountingWaker&) = delete;

  /// The waker to poll with.
  [[nodiscard]] const Waker& waker() const noexcept { return waker_; }

  /// How often it was woken, by whichever of its clones.
  /// ORDER: acquire; sees what a thread did before it woke.
  [[nodiscard]] std::size_t count() const noexcept {
    return counts_->wakes.load(memory_order_acquire);
  }

  /// Clones alive now. 0 once nobody keeps a waker any more.
  /// ORDER: acquire; sees what a thread did before it dropped its clone.
  [[nodiscard]] std::size_t clones() const noexcept {
    return counts_->wakers.load(memory_order_acquire) - 1;
  }

  /// Clones made so far: stays as it is when a future keeps the waker it has (`will_wake`).
  [[nodiscard]] std::size_t clones_made() const noexcept {
    return counts_->clones_made.load(memory_order_acquire);  // ORDER: acquire; as in `clones`.
  }

 private:
  /// One owner is the CountingWaker; every waker is another.
  struct Counts : RefCounted<Counts> {
    mutable atomic<std::size_t> wakes{0};
    mutable atomic<std::size_t> wakers{1};  // the clones, and the CountingWaker's own
    mutable atomic<std::size_t> clones_made{0};

    static RawWaker raw(const Counts* counts) noexcept {
      counts->add_ref();
      return RawWaker(counts, &vtable);
    }
    static const Counts* from(const void* data) noexcept {
      return static_cast<const Counts*>(data);
    }
    static RawWaker clone(const void* data) {
      from(data)->wakers.fetch_add(1, memory_order_relaxed);
      from(data)->clones_made.fetch_add(1, memory_order_relaxed);
      return raw(from(data));
    }
    static void wake(const void* data) {
      wake_by_ref(data);
      drop(data);
    }
    static void wake_by_ref(const void* data) {
      // ORDER: release; publishes what the waking thread did to whoever reads the count.
      from(data)->wakes.fetch_add(1, memory_order_release);
    }
    static void drop(const void* data) {
      // ORDER: release; publishes what the dropping thread did to whoever reads the count.
      from(data)->wakers.fetch_sub(1, memory_order_release);
      from(data)->release();
    }
    static constexpr RawWakerVTable vtable{clone, wake, wake_by_ref, drop};
  };

  RefPtr<Counts> counts_;
  Waker waker_;
};

}  // namespace rouse::testing
