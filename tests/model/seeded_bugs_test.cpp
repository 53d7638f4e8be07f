// Bugs that the checker must find, each beside the program that is right. And the replay string of
// each must lead to the same bug, at once.
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {
namespace {

using ::testing::HasSubstr;

/// What is found in the body; after that the replay has found it again.
Finding found_in(const std::function<void()>& body, const Options& options = {}) {
  const Report report = explore(body, options);
  if (!report.finding) {
    ADD_FAILURE() << "nothing was found: " << report.summary();
    return {};
  }
  Options again = options;
  again.replay = report.finding->replay;
  const Report replayed = explore(body, again);
  EXPECT_EQ(replayed.executions, 1U);
  if (!replayed.finding) {
    ADD_FAILURE() << "the replay found nothing; it was: " << report.summary();
    return *report.finding;
  }
  EXPECT_EQ(replayed.finding->problem, report.finding->problem);
  EXPECT_EQ(replayed.finding->trace, report.finding->trace);
  return *report.finding;
}

void expect_right(const std::function<void()>& body, const Options& options = {}) {
  const Report report = explore(body, options);
  EXPECT_FALSE(report.finding) << report.summary();
  EXPECT_TRUE(report.complete);
}

// --- Publishing ---

void publish(std::memory_order store, std::memory_order load) {
  Cell<int> data{0};
  atomic<bool> is_ready{false};
  name(&is_ready, "is_ready");
  Thread writer([&] {
    data.write() = 42;
    is_ready.store(true, store);
  });
  if (is_ready.load(load)) ensure(data.read() == 42, "the data is there");
  writer.join();
}

TEST(SeededBug, ARelaxedPublishIsADataRace) {
  const Finding finding = found_in([] { publish(memory_order_relaxed, memory_order_acquire); });
  EXPECT_EQ(finding.problem, Problem::data_race);
  EXPECT_THAT(finding.message, HasSubstr("cell 1 is read by main"));
  EXPECT_THAT(finding.trace, HasSubstr("is_ready.store (relaxed) <- 1"));
  EXPECT_THAT(finding.trace, HasSubstr("seeded_bugs_test.cpp:"));
  EXPECT_EQ(found_in([] { publish(memory_order_release, memory_order_relaxed); }).problem,
            Problem::data_race);
  expect_right([] { publish(memory_order_release, memory_order_acquire); });
}

TEST(SeededBug, ADataRaceOnAPlainCounterIsFound) {
  const Finding finding = found_in([] {
    Cell<int> counter{0};
    Thread other([&] { ++counter.write(); });
    ++counter.write();
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::data_race);
}

// --- Waiting ---

void wait_for_flag(bool notifies, bool locks) {
  Mutex mutex;
  CondVar changed;
  bool is_set = false;
  Thread waiter([&] {
    Lock lock(mutex);
    while (!is_set) changed.wait(lock);
  });
  {
    Lock lock(mutex);
    is_set = true;
    if (!locks) lock.unlock();
    if (notifies) changed.notify_one();
  }
  waiter.join();
}

TEST(SeededBug, AMissingNotifyIsALostWakeup) {
  const Finding finding = found_in([] { wait_for_flag(false, true); });
  EXPECT_EQ(finding.problem, Problem::deadlock);
  EXPECT_THAT(finding.message, HasSubstr("thread 1 waits for a notification of condvar 1"));
  EXPECT_THAT(finding.message, HasSubstr("main waits for the end of thread 1"));
  expect_right([] { wait_for_flag(true, true); });
  expect_right([] { wait_for_flag(true, false); });
}

TEST(SeededBug, ANotifyBetweenTheLookAndTheWaitIsLost) {
  const Finding finding = found_in([] {
    Mutex mutex;
    CondVar changed;
    atomic<bool> is_set{false};
    Thread waiter([&] {
      Lock lock(mutex);
      while (!is_set.load()) changed.wait(lock);
    });
    is_set.store(true);  // without the mutex
    changed.notify_one();
    waiter.join();
  });
  EXPECT_EQ(finding.problem, Problem::deadlock);
}

TEST(SeededBug, NotifyingOneOfTwoLeavesTheOtherWaiting) {
  const auto body = [](bool all) {
    Mutex mutex;
    CondVar changed;
    bool is_set = false;
    const auto wait = [&] {
      Lock lock(mutex);
      while (!is_set) changed.wait(lock);
    };
    Thread first(wait);
    Thread second(wait);
    {
      const Lock lock(mutex);
      is_set = true;
    }
    all ? changed.notify_all() : changed.notify_one();
    first.join();
    second.join();
  };
  EXPECT_EQ(found_in([&] { body(false); }).problem, Problem::deadlock);
  expect_right([&] { body(true); });
}

TEST(SeededBug, LocksTakenInTwoOrdersAreADeadlock) {
  const Finding finding = found_in([] {
    Mutex a;
    Mutex b;
    Thread other([&] {
      const Lock first(b);
      const Lock second(a);
    });
    {
      const Lock first(a);
      const Lock second(b);
    }
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::deadlock);
  EXPECT_THAT(finding.message, HasSubstr("which thread 1 has"));
}

TEST(SeededBug, ATryLockMayFailWhileAnotherHasTheLock) {
  const Finding finding = found_in([] {
    Mutex mutex;
    Thread other([&] { const Lock lock(mutex); });
    ensure(mutex.try_lock(), "the lock is free");
    mutex.unlock();
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::failed_ensure);
}

TEST(SeededBug, AWaitThatTimesOutIsExplored) {
  const Finding finding = found_in([] {
    Mutex mutex;
    CondVar changed;
    bool is_set = false;
    Thread other([&] {
      const Lock lock(mutex);
      is_set = true;
      changed.notify_one();
    });
    {
      Lock lock(mutex);
      if (!is_set) wait_for(changed, lock, std::chrono::seconds(1));
      ensure(is_set, "nobody is late");
    }
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::failed_ensure);
  EXPECT_THAT(finding.trace, HasSubstr("timed out"));
}

// --- Atomics ---

TEST(SeededBug, ALoadAndAStoreInsteadOfAnUpdateLoseOne) {
  const Finding finding = found_in([] {
    atomic<int> count{0};
    const auto add = [&] { count.store(count.load() + 1); };
    Thread other(add);
    add();
    other.join();
    ensure(count.load() == 2, "both are counted");
  });
  EXPECT_EQ(finding.problem, Problem::failed_ensure);
  EXPECT_THAT(finding.message, HasSubstr("both are counted"));
}

/// A stack of the numbers 0 to 2, whose nodes are reused; `version` counts in its upper half.
class IndexStack {
 public:
  static constexpr std::uint64_t none = 9;
  explicit IndexStack(bool counts) : counts_(counts) {
    for (const std::uint64_t index : {2U, 1U, 0U}) push(index);
  }
  void push(std::uint64_t index) {
    std::uint64_t top = top_.load(memory_order_relaxed);
    do {
      next_[index].store(top & mask, memory_order_relaxed);
    } while (!top_.compare_exchange_weak(top, after(top, index), memory_order_release,
                                         memory_order_relaxed));
  }
  std::uint64_t pop() {
    std::uint64_t top = top_.load(memory_order_acquire);
    while ((top & mask) != none) {
      const std::uint64_t next = next_[top & mask].load(memory_order_relaxed);
      if (top_.compare_exchange_weak(top, after(top, next), memory_order_acquire,
                                     memory_order_acquire)) {
        return top & mask;
      }
    }
    return none;
  }

 private:
  static constexpr std::uint64_t mask = 0xFF;
  std::uint64_t after(std::uint64_t top, std::uint64_t index) const {
    return counts_ ? ((top | mask) + 1) | index : index;
  }
  const bool counts_;
  atomic<std::uint64_t> top_{none};
  atomic<std::uint64_t> next_[3];
};

void use_stack(bool counts) {
  IndexStack stack(counts);
  atomic<int> owners[3] = {};
  const auto take = [&] {
    const std::uint64_t index = stack.pop();
    if (index != IndexStack::none) {
      ensure(owners[index].fetch_add(1, memory_order_relaxed) == 0, "one owner at a time");
    }
    return index;
  };
  Thread other([&] { take(); });
  const std::uint64_t first = take();
  take();
  if (first != IndexStack::none) {
    owners[first].fetch_sub(1, memory_order_relaxed);
    stack.push(first);
  }
  take();
  other.join();
}

TEST(SeededBug, AbaOnAStackOfReusedNodesIsFound) {
  EXPECT_EQ(found_in([] { use_stack(false); }).problem, Problem::failed_ensure);
  expect_right([] { use_stack(true); });
}

/// A task's state word: 0 idle, 1 notified. Who wakes publishes data; the poller takes the
/// notification. A wake that finds the task notified already must publish nevertheless.
void wake_twice(bool releases_when_notified) {
  atomic<int> state{0};
  atomic<int> data{0};
  const auto wake = [&](int bit) {
    data.fetch_or(bit, memory_order_relaxed);
    int seen = state.load(memory_order_relaxed);
    for (;;) {
      if (seen == 1 && !releases_when_notified) return;  // "nothing to do"
      // ORDER: release; publishes the data.
      if (state.compare_exchange_weak(seen, 1, memory_order_release, memory_order_relaxed)) return;
    }
  };
  Thread first([&] { wake(1); });
  Thread second([&] { wake(2); });
  int polled = 0;
  int done = 0;
  while (done != 3) {
    // ORDER: acquire; sees what was published before the wake.
    if (state.exchange(0, memory_order_acquire) == 1) {
      done = data.load(memory_order_relaxed);
      ++polled;
    } else if (polled == 2) {
      break;
    } else {
      spin_hint();
    }
  }
  first.join();
  second.join();
}

TEST(SeededBug, AWakeOfANotifiedTaskThatSkipsTheReleaseIsFound) {
  // The poll that the first wake leads to may miss the data of the second, and there is no other.
  EXPECT_EQ(found_in([] { wake_twice(false); }).problem, Problem::livelock);
  expect_right([] { wake_twice(true); });
}

// --- Objects and memory ---

TEST(SeededBug, ALeakIsFound) {
  const Finding finding = found_in([] {
    atomic<int*> slot{nullptr};
    Thread other([&] { slot.store(new int(1)); });
    // The one that comes too late is forgotten.
    std::unique_ptr<int> taken(slot.exchange(nullptr));
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::leak);
  EXPECT_THAT(finding.message, HasSubstr("4 bytes, made by thread 1"));
}

TEST(SeededBug, ADoubleFreeIsFound) {
  const Finding finding = found_in([] {
    atomic<int*> slot{new int(1)};
    const auto take = [&] {
      int* taken = slot.load();
      if (taken == nullptr) return;
      slot.store(nullptr);
      delete taken;
    };
    Thread other(take);
    take();
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::bad_free);
}

struct Counted {
  explicit Counted(std::memory_order order) : drop_order(order) {}
  void drop() {
    if (references.fetch_sub(1, drop_order) == 1) delete this;
  }
  std::memory_order drop_order;
  atomic<int> references{2};
  Cell<int> value{0};
};

void share(std::memory_order drop) {
  auto* shared = new Counted(drop);
  Thread other([shared] {
    (void)shared->value.read();
    shared->drop();
  });
  shared->drop();
  other.join();
}

TEST(SeededBug, ARelaxedLastReferenceDestroysWhatAnotherStillReads) {
  EXPECT_EQ(found_in([] { share(memory_order_relaxed); }).problem, Problem::data_race);
  EXPECT_EQ(found_in([] { share(memory_order_release); }).problem, Problem::data_race);
  expect_right([] { share(memory_order_acq_rel); });
}

TEST(SeededBug, AUseAfterFreeIsFound) {
  const auto body = [](bool frees_last) {
    auto* data = new atomic<int>(1);
    atomic<bool> may_read{false};
    Thread other([&, data] {
      if (may_read.load(memory_order_acquire)) data->load(memory_order_relaxed);
    });
    if (!frees_last) delete data;
    may_read.store(true, memory_order_release);
    other.join();
    if (frees_last) delete data;
  };
  const Finding finding = found_in([&] { body(false); });
  EXPECT_EQ(finding.problem, Problem::use_after_free);
  EXPECT_THAT(finding.message, HasSubstr("whose memory was freed"));
  expect_right([&] { body(true); });
}

TEST(SeededBug, ADestructionThatNothingOrdersIsFound) {
  const Finding finding = found_in([] {
    auto* flag = new atomic<bool>(false);
    Thread other([=] { flag->store(true, memory_order_relaxed); });
    while (!flag->load(memory_order_acquire)) spin_hint();
    delete flag;
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::data_race);
  EXPECT_THAT(finding.message, HasSubstr("is destroyed by main while thread 1 may be using it"));
}

// --- No progress, and contracts ---

TEST(SeededBug, ASpinLoopThatNobodyEndsIsALivelock) {
  const Finding finding = found_in([] {
    atomic<bool> first{false};
    atomic<bool> second{false};
    Thread other([&] {
      while (!first.load()) spin_hint();
      second.store(true);
    });
    while (!second.load()) spin_hint();
    first.store(true);
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::livelock);
  EXPECT_THAT(finding.message, HasSubstr("a store that ends its spinning"));
}

TEST(SeededBug, ALoopWithoutASpinHintIsALivelock) {
  const Finding finding = found_in(
      [] {
        atomic<bool> flag{false};
        while (!flag.load()) {
        }
      },
      {.max_steps = 100});
  EXPECT_EQ(finding.problem, Problem::livelock);
  EXPECT_THAT(finding.message, HasSubstr("spin_hint"));
}

TEST(SeededBug, AnExceptionThatNobodyCatchesIsFound) {
  const Finding finding = found_in([] {
    Thread other([] { throw std::runtime_error("too bad"); });
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::exception);
  EXPECT_THAT(finding.message, HasSubstr("an exception left thread 1: too bad"));
}

void fail_loudly() { throw std::runtime_error("out of noexcept"); }

TEST(SeededBug, AnExceptionOutOfANoexceptFunctionIsFound) {
  const Finding finding = found_in([] {
    const auto function = [](atomic<int>& x) noexcept {
      if (x.load() == 1) fail_loudly();
    };
    atomic<int> x{0};
    Thread other([&] { x.store(1); });
    function(x);
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::exception);
}

TEST(SeededBug, ACrashIsFound) {
  const Finding finding = found_in([] {
    static int number = 1;
    atomic<int*> pointer{&number};
    Thread other([&] { pointer.store(nullptr); });
    ensure(*static_cast<volatile int*>(pointer.load()) == 1);
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::crash);
}

TEST(SeededBug, AnAtomicThatIsNotThereIsFound) {
  const Finding finding = found_in([] {
    atomic<int> number{1};
    atomic<atomic<int>*> pointer{&number};
    Thread other([&] { pointer.store(nullptr); });
    ensure(pointer.load()->load() == 1);
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::crash);
}

TEST(SeededBug, AFailedAssertionIsFound) {
  const Finding finding = found_in([] {
    atomic<int> x{0};
    Thread other([&] { x.store(1); });
    ROUSE_ASSERT(x.load() == 0, "the assertion of the test");
    other.join();
  });
  EXPECT_EQ(finding.problem, Problem::failed_assert);
  EXPECT_THAT(finding.message, HasSubstr("the assertion of the test"));
}

TEST(SeededBug, AThreadThatIsNotJoinedIsFound) {
  EXPECT_EQ(found_in([] { Thread other([] {}); }).problem, Problem::misuse);
}

TEST(SeededBug, ABodyThatIsNotDeterministicIsFound) {
  int run = 0;
  const Report report = explore([&] {
    atomic<int> x{0};
    Thread other([&] { x.store(1); });
    atomic<int> of_main_alone{0};
    if (++run % 2 == 0) of_main_alone.store(1);
    x.load();
    other.join();
  });
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->problem, Problem::not_deterministic);
}

}  // namespace
}  // namespace rouse::model
