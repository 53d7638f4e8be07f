#include "rouse/core/atomic_waker.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/testing/counting_waker.hpp"

namespace rouse {
namespace {

using testing::CountingWaker;

TEST(AtomicWaker, WakesTheRegisteredWakerOnce) {
  const CountingWaker counting;
  AtomicWaker slot;
  slot.register_waker(counting.waker());
  EXPECT_EQ(counting.clones(), 1u);
  slot.wake();
  slot.wake();
  EXPECT_EQ(counting.count(), 1u);
  EXPECT_EQ(counting.clones(), 0u);
}

TEST(AtomicWaker, WakeWithoutAWakerDoesNothing) {
  AtomicWaker slot;
  slot.wake();
  EXPECT_FALSE(slot.take());
  const CountingWaker counting;
  slot.register_waker(counting.waker());  // the earlier wake is not remembered
  EXPECT_EQ(counting.count(), 0u);
}

TEST(AtomicWaker, KeepsAWakerOfTheSameTaskAndReplacesAnother) {
  const CountingWaker first;
  const CountingWaker second;
  AtomicWaker slot;
  slot.register_waker(first.waker());
  slot.register_waker(first.waker());
  EXPECT_EQ(first.clones_made(), 1u);
  slot.register_waker(second.waker());
  EXPECT_EQ(first.clones(), 0u);
  slot.wake();
  EXPECT_EQ(first.count(), 0u);
  EXPECT_EQ(second.count(), 1u);
}

TEST(AtomicWaker, TakeHandsTheWakerOutUnwoken) {
  const CountingWaker counting;
  AtomicWaker slot;
  slot.register_waker(counting.waker());
  const Waker taken = slot.take();
  EXPECT_TRUE(taken.will_wake(counting.waker()));
  EXPECT_EQ(counting.count(), 0u);
  slot.wake();
  EXPECT_EQ(counting.count(), 0u);
}

TEST(AtomicWaker, DropsItsWakerAtItsEnd) {
  const CountingWaker counting;
  {
    AtomicWaker slot;
    slot.register_waker(counting.waker());
  }
  EXPECT_EQ(counting.clones(), 0u);
  EXPECT_EQ(counting.count(), 0u);
}

/// A waker whose functions use the AtomicWaker it is registered with.
struct Reentrant {
  AtomicWaker* slot = nullptr;
  int wakes = 0;
  int drops = 0;
  bool wake_inside_clone = false;
  int depth = 0;

  static Reentrant& from(const void* data) {
    return *static_cast<Reentrant*>(const_cast<void*>(data));
  }
  void enter() {
    if (depth > 0) return;
    ++depth;
    slot->register_waker(Waker::noop());
    slot->wake();
    (void)slot->take();
    --depth;
  }
  static RawWaker clone(const void* data) {
    if (from(data).wake_inside_clone) from(data).slot->wake();
    return RawWaker(data, &vtable);
  }
  static void wake(const void* data) {
    ++from(data).wakes;
    from(data).enter();
  }
  static void drop(const void* data) {
    ++from(data).drops;
    from(data).enter();
  }
  static constexpr RawWakerVTable vtable{clone, wake, wake, drop};
};

TEST(AtomicWaker, MayBeEnteredAgainFromTheWakersWake) {
  AtomicWaker slot;
  Reentrant state;
  state.slot = &slot;
  const Waker waker = Waker::from_raw(RawWaker(&state, &Reentrant::vtable));
  slot.register_waker(waker);
  slot.wake();
  EXPECT_EQ(state.wakes, 1);
}

TEST(AtomicWaker, MayBeEnteredAgainFromTheDropOfAReplacedWaker) {
  AtomicWaker slot;
  Reentrant state;
  state.slot = &slot;
  const Waker waker = Waker::from_raw(RawWaker(&state, &Reentrant::vtable));
  slot.register_waker(waker);
  slot.register_waker(Waker::noop());  // replaces it: its drop enters
  EXPECT_EQ(state.drops, 1);
}

TEST(AtomicWaker, AWakeInTheMiddleOfARegistrationIsNotLost) {
  AtomicWaker slot;
  Reentrant state;
  state.slot = &slot;
  const Waker waker = Waker::from_raw(RawWaker(&state, &Reentrant::vtable));
  state.wake_inside_clone = true;  // the clone is made while the slot is being registered
  slot.register_waker(waker);
  EXPECT_EQ(state.wakes, 1);
  EXPECT_FALSE(slot.take());  // it was consumed
}

/// A waker whose wake registers another waker in the same slot.
struct RegistersWhileWoken {
  AtomicWaker* slot = nullptr;
  const Waker* next = nullptr;

  static RawWaker clone(const void* data) { return RawWaker(data, &vtable); }
  static void wake(const void* data) {
    const auto& self = *static_cast<const RegistersWhileWoken*>(data);
    self.slot->register_waker(*self.next);
  }
  static void drop(const void*) {}
  static constexpr RawWakerVTable vtable{clone, wake, wake, drop};
};

TEST(AtomicWaker, AWakerRegisteredFromInsideAWakeIsKeptOrWoken) {
  AtomicWaker slot;
  const CountingWaker counting;
  RegistersWhileWoken state;
  state.slot = &slot;
  state.next = &counting.waker();
  const Waker waker = Waker::from_raw(RawWaker(&state, &RegistersWhileWoken::vtable));
  slot.register_waker(waker);
  slot.wake();
  EXPECT_EQ(counting.clones() + counting.count(), 1u);
}

TEST(AtomicWakerDeathTest, TwoRegistrationsAtOnceAreRefused) {
  struct RegistersInClone {
    AtomicWaker slot;
    static RawWaker clone(const void* data) {
      static_cast<RegistersInClone*>(const_cast<void*>(data))->slot.register_waker(Waker::noop());
      return RawWaker(data, &table());
    }
    static void ignore(const void*) {}
    static const RawWakerVTable& table() {
      static constexpr RawWakerVTable vtable{clone, ignore, ignore, ignore};
      return vtable;
    }
  };
  RegistersInClone state;
  const Waker waker = Waker::from_raw(RawWaker(&state, &RegistersInClone::table()));
  EXPECT_DEATH(state.slot.register_waker(waker), "two threads register at the same time");
}

/// Waits for `condition` without sleeping.
template <class Condition>
void spin_until(Condition condition) {
  for (int i = 0; !condition(); ++i) {
    if (i < 200) {
      spin_hint();
    } else {
      std::this_thread::yield();
    }
  }
}

/// A task and some threads that wake it. In each round the task registers and then looks at a flag
/// of each thread, which sets it and then wakes. When all threads have finished a round in which
/// the task did not see a flag, it must have been woken: a lost wake is seen at once, not by a
/// hang. `fresh_wakers`: every round comes with another waker, so that the slot is written each
/// time.
int lost_wakes(std::size_t threads, int rounds, bool fresh_wakers) {
  AtomicWaker slot;
  atomic<int> round{0};
  std::vector<atomic<int>> flags(threads);
  atomic<int> finished{0};

  std::vector<Thread> wakers;
  for (std::size_t t = 0; t < threads; ++t) {
    wakers.emplace_back([&, t] {
      for (int r = 1; r <= rounds; ++r) {
        spin_until([&] { return round.load(memory_order_acquire) >= r; });
        // Vary who comes first.
        for (unsigned i = static_cast<unsigned>(r) % 64u; i > 0; --i) spin_hint();
        flags[t].store(r, memory_order_relaxed);  // published by the wake alone
        slot.wake();
        finished.fetch_add(1, memory_order_release);
      }
    });
  }

  const CountingWaker a;
  const CountingWaker b;
  int lost = 0;
  for (int r = 1; r <= rounds; ++r) {
    const CountingWaker& counting = fresh_wakers && r % 2 ? a : b;
    const std::size_t before = counting.count();
    round.store(r, memory_order_release);
    for (unsigned i = static_cast<unsigned>(r) / 64u % 64u; i > 0; --i) spin_hint();
    slot.register_waker(counting.waker());
    bool seen = true;
    for (auto& flag : flags) seen = seen && flag.load(memory_order_relaxed) == r;
    spin_until(
        [&] { return finished.load(memory_order_acquire) == r * static_cast<int>(threads); });
    if (!seen && counting.count() == before) ++lost;
    (void)slot.take();  // of a round in which the task came after every wake
  }
  for (Thread& thread : wakers) thread.join();
  return lost;
}

TEST(AtomicWaker, LosesNoWakeBetweenTwoThreads) { EXPECT_EQ(lost_wakes(1, 50'000, false), 0); }

TEST(AtomicWaker, LosesNoWakeWhenEveryRoundHasAnotherWaker) {
  EXPECT_EQ(lost_wakes(1, 50'000, true), 0);
}

TEST(AtomicWaker, LosesNoWakeWhenTwoThreadsWakeAtOnce) {
  EXPECT_EQ(lost_wakes(2, 15'000, true), 0);
}

}  // namespace
}  // namespace rouse
