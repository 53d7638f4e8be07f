// Litmus tests: for each the exact set of outcomes that the engine's memory model has. What C++
// forbids must never be there, what weak memory does must.
#include "litmus.hpp"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/atomic.hpp"
#include "rouse/base/thread.hpp"

namespace rouse::model {
namespace {

constexpr auto relaxed = memory_order_relaxed;
constexpr auto acquire = memory_order_acquire;
constexpr auto release = memory_order_release;
constexpr auto acq_rel = memory_order_acq_rel;
constexpr auto seq_cst = memory_order_seq_cst;

/// Runs the functions, each on its thread, to their ends.
template <class... Functions>
void together(Functions... functions) {
  Thread threads[] = {Thread(functions)...};
  for (Thread& thread : threads) thread.join();
}

// --- Store buffering: x = 1; r1 = y || y = 1; r2 = x ---

Outcomes store_buffering(std::memory_order store, std::memory_order load,
                         std::memory_order between) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, store);
          fence(between);
          r1 = y.load(load);
        },
        [&] {
          y.store(1, store);
          fence(between);
          r2 = x.load(load);
        });
    litmus.saw({r1, r2});
  });
}

TEST(StoreBuffering, RelaxedBothLoadsMaySeeTheOldValues) {
  EXPECT_EQ(store_buffering(relaxed, relaxed, relaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, ReleaseAndAcquireDoNotPreventIt) {
  EXPECT_EQ(store_buffering(release, acquire, relaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, AcquireReleaseFencesDoNotPreventIt) {
  EXPECT_EQ(store_buffering(relaxed, relaxed, acq_rel), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, SequentiallyConsistentAccessesPreventIt) {
  EXPECT_EQ(store_buffering(seq_cst, seq_cst, relaxed), (Outcomes{"0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, SequentiallyConsistentStoresAloneDoNotPreventIt) {
  EXPECT_EQ(store_buffering(seq_cst, acquire, relaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, SequentiallyConsistentFencesPreventIt) {
  EXPECT_EQ(store_buffering(relaxed, relaxed, seq_cst), (Outcomes{"0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, OneFenceAndOneSequentiallyConsistentPairPreventIt) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, relaxed);
          fence(seq_cst);
          r1 = y.load(relaxed);
        },
        [&] {
          y.store(1, seq_cst);
          r2 = x.load(seq_cst);
        });
    litmus.saw({r1, r2});
  });
  EXPECT_EQ(seen, (Outcomes{"0 1", "1 0", "1 1"}));
}
TEST(StoreBuffering, UpdatesOfOneThirdLocationOrderTheTwo) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    atomic<int> turn{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, relaxed);
          turn.fetch_add(1, acq_rel);
          r1 = y.load(relaxed);
        },
        [&] {
          y.store(1, relaxed);
          turn.fetch_add(1, acq_rel);
          r2 = x.load(relaxed);
        });
    litmus.saw({r1, r2});
  });
  EXPECT_EQ(seen, (Outcomes{"0 1", "1 0", "1 1"}));
}

// --- Message passing: x = 1; y = 1 || r1 = y; r2 = x ---

Outcomes message_passing(std::memory_order store, std::memory_order load,
                         std::memory_order before_store = relaxed,
                         std::memory_order after_load = relaxed) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, relaxed);
          fence(before_store);
          y.store(1, store);
        },
        [&] {
          r1 = y.load(load);
          fence(after_load);
          r2 = x.load(relaxed);
        });
    litmus.saw({r1, r2});
  });
}

TEST(MessagePassing, RelaxedTheMessageMayBeMissing) {
  EXPECT_EQ(message_passing(relaxed, relaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(MessagePassing, ReleaseWithoutAcquireIsNotEnough) {
  EXPECT_EQ(message_passing(release, relaxed), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(MessagePassing, AcquireWithoutReleaseIsNotEnough) {
  EXPECT_EQ(message_passing(relaxed, acquire), (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}
TEST(MessagePassing, ReleaseAndAcquireBringIt) {
  EXPECT_EQ(message_passing(release, acquire), (Outcomes{"0 0", "0 1", "1 1"}));
}
TEST(MessagePassing, FencesBringIt) {
  EXPECT_EQ(message_passing(relaxed, relaxed, release, acquire), (Outcomes{"0 0", "0 1", "1 1"}));
}
TEST(MessagePassing, AFenceAndAnAccessBringIt) {
  EXPECT_EQ(message_passing(relaxed, acquire, release), (Outcomes{"0 0", "0 1", "1 1"}));
  EXPECT_EQ(message_passing(release, relaxed, relaxed, acquire), (Outcomes{"0 0", "0 1", "1 1"}));
}
TEST(MessagePassing, FencesTheWrongWayRoundDoNot) {
  EXPECT_EQ(message_passing(relaxed, relaxed, acquire, release),
            (Outcomes{"0 0", "0 1", "1 0", "1 1"}));
}

// --- Release sequences: a release store, an update of it, an acquire load of the update ---

/// The second thread changes y from 1 to 2, by `change`; the third waits for a 2.
template <class Change>
Outcomes release_sequence(Change change) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, relaxed);
          y.store(1, release);
        },
        [&] { change(y); },
        [&] {
          r1 = y.load(acquire);
          r2 = x.load(relaxed);
        });
    litmus.saw({r1, r2});
  });
}

TEST(ReleaseSequence, ARelaxedUpdateCarriesOnWhatTheReleasePublished) {
  const Outcomes seen = release_sequence([](atomic<int>& y) {
    int one = 1;
    y.compare_exchange_strong(one, 2, relaxed, relaxed);
  });
  EXPECT_EQ(seen, (Outcomes{"0 0", "0 1", "1 1", "2 1"}));
}
TEST(ReleaseSequence, ARelaxedStoreOfAnotherThreadEndsIt) {
  const Outcomes seen = release_sequence([](atomic<int>& y) {
    if (y.load(relaxed) == 1) y.store(2, relaxed);
  });
  EXPECT_EQ(seen, (Outcomes{"0 0", "0 1", "1 1", "2 0", "2 1"}));
}
TEST(ReleaseSequence, ALaterRelaxedStoreOfTheSameThreadEndsItSinceCpp20) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          x.store(1, relaxed);
          y.store(1, release);
          y.store(2, relaxed);
        },
        [&] {
          r1 = y.load(acquire);
          r2 = x.load(relaxed);
        });
    litmus.saw({r1, r2});
  });
  EXPECT_EQ(seen, (Outcomes{"0 0", "0 1", "1 1", "2 0", "2 1"}));
}

// --- Independent reads of independent writes ---

Outcomes iriw(std::memory_order store, std::memory_order load,
              std::memory_order between = relaxed) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r[4] = {-1, -1, -1, -1};
    together([&] { x.store(1, store); }, [&] { y.store(1, store); },
             [&] {
               r[0] = x.load(load);
               fence(between);
               r[1] = y.load(load);
             },
             [&] {
               r[2] = y.load(load);
               fence(between);
               r[3] = x.load(load);
             });
    litmus.saw({r[0], r[1], r[2], r[3]});
  });
}

TEST(Iriw, WithAcquireTheReadersMayDisagreeAboutTheOrder) {
  const Outcomes seen = iriw(release, acquire);
  EXPECT_EQ(seen.size(), 16U);
  EXPECT_TRUE(seen.contains("1 0 1 0"));
}
TEST(Iriw, SequentiallyConsistentTheyAgree) {
  const Outcomes seen = iriw(seq_cst, seq_cst);
  EXPECT_EQ(seen.size(), 15U);
  EXPECT_FALSE(seen.contains("1 0 1 0"));
}
TEST(Iriw, WithSequentiallyConsistentFencesTheyAgree) {
  const Outcomes seen = iriw(relaxed, relaxed, seq_cst);
  EXPECT_EQ(seen.size(), 15U);
  EXPECT_FALSE(seen.contains("1 0 1 0"));
}

// --- Write to read causality: x = 1 || r1 = x; y = 1 || r2 = y; r3 = x ---

Outcomes write_to_read_causality(std::memory_order store, std::memory_order load) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r[3] = {-1, -1, -1};
    together([&] { x.store(1, relaxed); },
             [&] {
               r[0] = x.load(load);
               y.store(1, store);
             },
             [&] {
               r[1] = y.load(load);
               r[2] = x.load(relaxed);
             });
    litmus.saw({r[0], r[1], r[2]});
  });
}

TEST(WriteToReadCausality, ReleaseAndAcquireKeepIt) {
  const Outcomes seen = write_to_read_causality(release, acquire);
  EXPECT_EQ(seen.size(), 7U);
  EXPECT_FALSE(seen.contains("1 1 0"));
}
TEST(WriteToReadCausality, RelaxedItMayBreak) {
  EXPECT_EQ(write_to_read_causality(relaxed, relaxed).size(), 8U);
}

// --- Coherence: of one location everybody sees one order ---

TEST(Coherence, TwoReadsDoNotGoBack) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r1 = -1;
    int r2 = -1;
    together([&] { x.store(1, relaxed); },
             [&] {
               r1 = x.load(relaxed);
               r2 = x.load(relaxed);
             });
    litmus.saw({r1, r2});
  });
  EXPECT_EQ(seen, (Outcomes{"0 0", "0 1", "1 1"}));
}
TEST(Coherence, TwoReadersAgreeAboutTheOrderOfTwoWrites) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r[4] = {-1, -1, -1, -1};
    together([&] { x.store(1, relaxed); }, [&] { x.store(2, relaxed); },
             [&] {
               r[0] = x.load(relaxed);
               r[1] = x.load(relaxed);
             },
             [&] {
               r[2] = x.load(relaxed);
               r[3] = x.load(relaxed);
             });
    litmus.saw({r[0], r[1], r[2], r[3]});
  });
  EXPECT_TRUE(seen.contains("1 2 1 2") && seen.contains("2 1 2 1"));
  EXPECT_FALSE(seen.contains("1 2 2 1") || seen.contains("2 1 1 2"));
}
TEST(Coherence, TwoWritesOfAThreadStayInOrder) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r = -1;
    together(
        [&] {
          x.store(1, relaxed);
          x.store(2, relaxed);
        },
        [&] { r = x.load(relaxed); });
    litmus.saw({r, x.load(relaxed)});
  });
  EXPECT_EQ(seen, (Outcomes{"0 2", "1 2", "2 2"}));
}
TEST(Coherence, AReadDoesNotSeeItsThreadsLaterWrite) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r = -1;
    together(
        [&] {
          r = x.load(relaxed);
          x.store(1, relaxed);
        },
        [&] { x.store(2, relaxed); });
    litmus.saw({r, x.load(relaxed)});
  });
  // Whoever has read the 2 writes behind it.
  EXPECT_EQ(seen, (Outcomes{"0 1", "0 2", "2 1"}));
}
TEST(Coherence, AWriteIsNotOvertakenByItsThreadsReadOfAnOlderOne) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r = -1;
    together(
        [&] {
          x.store(1, relaxed);
          r = x.load(relaxed);
        },
        [&] { x.store(2, relaxed); });
    litmus.saw({r, x.load(relaxed)});
  });
  EXPECT_EQ(seen, (Outcomes{"1 1", "1 2", "2 2"}));
}

// --- 2+2W: x = 1; y = 2 || y = 1; x = 2. Both first writes last? ---

Outcomes two_plus_two_writes(std::memory_order order) {
  return outcomes_of([=](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    together(
        [&] {
          x.store(1, order);
          y.store(2, order);
        },
        [&] {
          y.store(1, order);
          x.store(2, order);
        });
    litmus.saw({x.load(relaxed), y.load(relaxed)});
  });
}

TEST(TwoPlusTwoWrites, BothFirstWritesMayBeTheLast) {
  EXPECT_EQ(two_plus_two_writes(relaxed), (Outcomes{"1 1", "1 2", "2 1", "2 2"}));
  EXPECT_EQ(two_plus_two_writes(release), (Outcomes{"1 1", "1 2", "2 1", "2 2"}));
}
TEST(TwoPlusTwoWrites, NotIfSequentiallyConsistent) {
  EXPECT_EQ(two_plus_two_writes(seq_cst), (Outcomes{"1 2", "2 1", "2 2"}));
}

// --- Load buffering: r1 = x; y = 1 || r2 = y; x = 1. C++ allows 1 1; the engine does not have it
// ---

TEST(LoadBuffering, IsNotModelled) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    atomic<int> y{0};
    int r1 = -1;
    int r2 = -1;
    together(
        [&] {
          r1 = x.load(relaxed);
          y.store(1, relaxed);
        },
        [&] {
          r2 = y.load(relaxed);
          x.store(1, relaxed);
        });
    litmus.saw({r1, r2});
  });
  EXPECT_EQ(seen, (Outcomes{"0 0", "0 1", "1 0"}));
}

// --- Updates ---

TEST(Updates, NoneIsLost) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    together([&] { x.fetch_add(1, relaxed); }, [&] { x.fetch_add(1, relaxed); },
             [&] { x.fetch_add(1, relaxed); });
    litmus.saw({x.load(relaxed)});
  });
  EXPECT_EQ(seen, (Outcomes{"3"}));
}
TEST(Updates, AnUpdateMayComeBeforeAStoreThatWasExecutedEarlier) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int r = -1;
    together([&] { x.store(5, relaxed); }, [&] { r = x.exchange(7, relaxed); });
    litmus.saw({r, x.load(relaxed)});
  });
  EXPECT_EQ(seen, (Outcomes{"0 5", "5 7"}));
}
TEST(Updates, AFailedCompareExchangeIsALoad) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    int found = 9;
    together([&] { x.store(1, relaxed); },
             [&] { x.compare_exchange_strong(found, 2, acq_rel, relaxed); });
    litmus.saw({found, x.load(relaxed)});
  });
  EXPECT_EQ(seen, (Outcomes{"0 1", "1 1"}));
}
TEST(Updates, OfTwoCompareExchangesOneWins) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<int> x{0};
    bool first = false;
    bool second = false;
    together(
        [&] {
          int zero = 0;
          first = x.compare_exchange_strong(zero, 1, relaxed);
        },
        [&] {
          int zero = 0;
          second = x.compare_exchange_strong(zero, 2, relaxed);
        });
    litmus.saw({first, second});
  });
  EXPECT_EQ(seen, (Outcomes{"0 1", "1 0"}));
}
TEST(Updates, SubtractAndBitsAreThoseOfTheType) {
  const Outcomes seen = outcomes_of([](Litmus& litmus) {
    atomic<std::uint8_t> byte{1};
    const int before = byte.fetch_sub(2, relaxed);
    const int wrapped = byte.fetch_and(0x0F, relaxed);
    const int low = byte.fetch_or(0x10, relaxed);
    const int mixed = byte.fetch_xor(0xFF, relaxed);
    int numbers[4] = {};
    atomic<int*> pointer{numbers};
    pointer.fetch_add(2, relaxed);
    litmus.saw({before, wrapped, low, mixed, byte.load(relaxed),
                static_cast<int>(pointer.load(relaxed) - numbers)});
  });
  EXPECT_EQ(seen, (Outcomes{"1 255 15 31 224 2"}));
}

}  // namespace
}  // namespace rouse::model
