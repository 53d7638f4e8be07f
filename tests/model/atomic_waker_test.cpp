// Models of AtomicWaker: registering against waking, in every order.
#include "rouse/core/atomic_waker.hpp"

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/future.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {
namespace {

/// Ready once `count` threads have called `arrive`. The counter is relaxed: that its last value is
/// seen after the wake is the AtomicWaker's business.
class Arrivals {
 public:
  using Output = void;
  explicit Arrivals(int count) : missing_(count) {}

  void arrive() {
    missing_.fetch_sub(1, memory_order_relaxed);
    waker_.wake();
  }
  Poll<void> poll(Context& cx) {
    waker_.register_waker(cx.waker());
    if (missing_.load(memory_order_relaxed) == 0) return Poll<void>::ready();
    return pending;
  }

 private:
  AtomicWaker waker_;
  atomic<int> missing_;
};

TEST(AtomicWakerModel, AWakeIsNotLostWheneverItComes) {
  check(
      [] {
        Arrivals arrivals(1);
        Thread other([&] { arrivals.arrive(); });
        block_on(arrivals);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(AtomicWakerModel, OfTwoWakesNoneIsLost) {
  check([] {
    Arrivals arrivals(2);
    Thread first([&] { arrivals.arrive(); });
    Thread second([&] { arrivals.arrive(); });
    block_on(arrivals);
    first.join();
    second.join();
  });
}

/// Counts its wakes.
struct Counter : RefCounted<Counter> {
  void wake() { wakes.fetch_add(1, memory_order_relaxed); }
  atomic<int> wakes{0};
};

TEST(AtomicWakerModel, OneOfTheWakersInUseDuringAWakeIsWoken) {
  check(
      [] {
        AtomicWaker slot;
        const RefPtr<Counter> old_one = make_ref<Counter>();
        const RefPtr<Counter> new_one = make_ref<Counter>();
        slot.register_waker(make_waker(old_one));
        Thread other([&] { slot.wake(); });
        slot.register_waker(make_waker(new_one));
        other.join();
        const int old_wakes = old_one->wakes.load(memory_order_relaxed);
        const int new_wakes = new_one->wakes.load(memory_order_relaxed);
        ensure(old_wakes + new_wakes >= 1, "somebody was woken");
        ensure(new_wakes <= 1, "once");
      },
      {.preemption_bound = Options::unbounded});
}

TEST(AtomicWakerModel, TwoThatTakeTheWakerDoNotBothGetIt) {
  check(
      [] {
        AtomicWaker slot;
        const RefPtr<Counter> counter = make_ref<Counter>();
        slot.register_waker(make_waker(counter));
        Thread first([&] { slot.wake(); });
        Thread second([&] { slot.wake(); });
        first.join();
        second.join();
        ensure(counter->wakes.load(memory_order_relaxed) == 1, "woken once");
      },
      {.preemption_bound = Options::unbounded});
}

TEST(AtomicWakerModel, AWakePublishesWhatWasWrittenBefore) {
  check(
      [] {
        AtomicWaker slot;
        Cell<int> data{0};
        struct Reader : RefCounted<Reader> {
          explicit Reader(Cell<int>& cell) : data(cell) {}
          void wake() { seen = data.read(); }
          Cell<int>& data;
          int seen = 0;
        };
        const RefPtr<Reader> reader = make_ref<Reader>(data);
        Thread other([&] {
          data.write() = 1;
          slot.wake();
        });
        // Who registers while the other wakes is woken here, and may read.
        slot.register_waker(make_waker(reader));
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

}  // namespace
}  // namespace rouse::model
