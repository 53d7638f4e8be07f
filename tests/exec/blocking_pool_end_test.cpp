// The end of a BlockingPool, its long-lived jobs, and all of it at once from many threads.
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"

#include "exec/blocking_support.hpp"

namespace rouse {

using namespace internal;
namespace {

using std::chrono::nanoseconds;

TEST(BlockingPoolEnd, CancelsWhatIsQueuedAndLetsRunningCallsEnd) {
  BlockingOptions options;
  options.max_threads = 1;
  BlockingPool pool(options);
  Blocker blocker(pool);
  std::vector<JoinHandle<void>> queued;
  auto argument = std::make_shared<int>(0);
  for (int i = 0; i < 10; ++i) {
    queued.push_back(pool.spawn([argument] { ADD_FAILURE() << "was run"; }));
  }
  pool.close();
  pool.close();
  EXPECT_EQ(argument.use_count(), 1);
  for (auto& handle : queued) {
    EXPECT_TRUE(handle.is_finished());
    EXPECT_THROW(block_on(handle), JoinError);
  }
  EXPECT_FALSE(blocker.handle.is_finished());
  EXPECT_FALSE(pool.wait(nanoseconds(0)));
  EXPECT_FALSE(pool.wait(nanoseconds::min()));
  blocker.release();
  EXPECT_TRUE(pool.wait());
  EXPECT_EQ(block_on(blocker.handle), 42);
}

TEST(BlockingPoolEnd, RunsWhatIsMandatoryInItsOrder) {
  BlockingOptions options;
  options.max_threads = 1;
  BlockingPool pool(options);
  Blocker blocker(pool);
  std::vector<int> ran;  // by the one thread; `wait` is after it
  for (int i = 0; i < 10; ++i) {
    const auto call = [&ran, i] { ran.push_back(i); };
    if (i % 2 == 0) {
      pool.spawn(call).detach();
      continue;
    }
    auto& task = Task<BlockingCall<decltype(call)>>::make(pool.scheduler(), {}, call);
    EXPECT_TRUE(pool.submit_mandatory(task));
    JoinHandle<void>(task).detach();
  }
  pool.close();
  blocker.release();
  EXPECT_TRUE(pool.wait());
  EXPECT_EQ(ran, (std::vector{1, 3, 5, 7, 9}));
}

TEST(BlockingPoolEnd, RefusesWhatIsMandatoryOnceItIsClosed) {
  BlockingPool pool;
  pool.close();
  const auto call = [] { ADD_FAILURE() << "was run"; };
  auto& task = Task<BlockingCall<decltype(call)>>::make(pool.scheduler(), {}, call);
  EXPECT_FALSE(pool.submit_mandatory(task));
  JoinHandle<void> handle(task);
  EXPECT_THROW(block_on(handle), JoinError);
}

TEST(BlockingPoolEnd, CancelledCallsLetGoOfTheOwner) {
  bool gone = false;
  BlockingOptions options;
  options.max_threads = 1;
  auto runtime = make_ref<FakeRuntime>(options);
  runtime->when_destroyed = [&] { gone = true; };
  Blocker blocker(runtime->pool);
  auto queued = runtime->pool.spawn([] { ADD_FAILURE() << "was run"; });
  runtime->pool.close();
  auto late = runtime->pool.spawn([] { ADD_FAILURE() << "was run"; });
  blocker.release();
  runtime->shut_down();
  EXPECT_FALSE(gone);
  runtime = nullptr;
  EXPECT_TRUE(gone);
}

/// Takes its time to be destroyed.
struct Slow {
  explicit Slow(std::atomic<bool>& done) : is_gone(&done) {}
  Slow(const Slow&) = delete;
  Slow& operator=(const Slow&) = delete;
  ~Slow() {
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    *is_gone = true;
  }
  std::atomic<bool>* is_gone;
};

TEST(BlockingPoolEnd, ThreadLocalsAreGoneWhenTheWaitIsOver) {
  std::atomic<bool> is_gone{false};
  {
    ClosedAtEnd pool;
    block_on(pool->spawn([&] {
      thread_local const Slow slow(is_gone);
      EXPECT_FALSE(*slow.is_gone);
    }));
  }
  EXPECT_TRUE(is_gone);
}

TEST(BlockingPoolEnd, AClosedPoolCancelsNewCallsAtOnce) {
  BlockingPool pool;
  pool.close();
  auto handle = pool.spawn([] { ADD_FAILURE() << "was run"; });
  EXPECT_TRUE(handle.is_finished());
  EXPECT_THROW(block_on(handle), JoinError);
  EXPECT_EQ(pool.run_thread([] {}).error(), std::errc::operation_canceled);
  EXPECT_TRUE(pool.wait());
}

TEST(BlockingPoolEnd, IdleThreadsDoNotWaitForTheirTime) {
  BlockingOptions options;
  options.keep_alive = nanoseconds::max();
  BlockingPool pool(options);
  Blocker first(pool);
  Blocker second(pool);
  first.release();
  second.release();
  until([&] { return pool.metrics().idle_threads == 2; });
  pool.close();
  EXPECT_TRUE(pool.wait());
  EXPECT_EQ(pool.metrics().threads, 0U);
}

TEST(BlockingPoolEnd, ACallAndItsHandleOutliveThePool) {
  Mailbox<bool> stopped;
  BlockingOptions options;
  options.on_thread_stop = [&] { stopped.put(true); };
  auto pool = std::make_optional<BlockingPool>(options);
  Blocker blocker(*pool);
  pool.reset();
  blocker.release();
  EXPECT_EQ(block_on(blocker.handle), 42);
  EXPECT_TRUE(stopped.take());
}

TEST(BlockingPoolEnd, AFinishedHandleOutlivesThePool) {
  std::optional<JoinHandle<int>> handle;
  {
    ClosedAtEnd pool;
    handle = pool->spawn([] { return 3; });
    until([&] { return handle->is_finished(); });
  }
  EXPECT_EQ(block_on(*handle), 3);
}

TEST(BlockingPoolEnd, WaitOnAThreadOfThePoolDoesNotWaitForItself) {
  BlockingPool pool;
  EXPECT_FALSE(block_on(pool.spawn([&] {
    pool.close();
    return pool.wait();
  })));
  EXPECT_TRUE(pool.wait());
}

TEST(BlockingPoolEnd, TheOwnerMayGoOnAThreadOfThePool) {
  Mailbox<bool> stopped;
  BlockingOptions options;
  options.on_thread_stop = [&] { stopped.put(true); };
  auto runtime = make_ref<FakeRuntime>(options);
  Blocker blocker(runtime->pool);
  runtime = nullptr;  // the call alone keeps it
  blocker.release();
  EXPECT_EQ(block_on(blocker.handle), 42);
  EXPECT_TRUE(stopped.take());
}

TEST(BlockingPoolEndDeathTest, WaitBeforeCloseAborts) {
  EXPECT_DEATH(BlockingPool().wait(), "before close");
}

// --- Long-lived jobs. ---

TEST(BlockingPoolJob, DoesNotCountAsOneOfTheThreads) {
  BlockingOptions options;
  options.max_threads = 1;
  std::latch all(4);
  std::latch end(1);
  ClosedAtEnd pool(options);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pool->run_thread([&] {
      all.count_down();
      end.wait();
    }));
  }
  block_on(pool->spawn([&] { all.count_down(); }));
  all.wait();
  EXPECT_LE(pool->metrics().threads, 1U);
  end.count_down();
}

TEST(BlockingPoolJob, TakesAnIdleThreadWhichThenServesCallsAgain) {
  std::atomic<int> started{0};
  BlockingOptions options;
  options.max_threads = 1;
  options.on_thread_start = [&] { ++started; };
  std::latch end(1);
  ClosedAtEnd pool(options);
  block_on(pool->spawn([] {}));
  until([&] { return pool->metrics().idle_threads == 1; });
  auto captured = std::make_shared<int>(0);
  ASSERT_TRUE(pool->run_thread([&end, captured] { end.wait(); }));
  EXPECT_EQ(pool->metrics().threads, 0U);
  end.count_down();
  until([&] { return pool->metrics().idle_threads == 1; });
  EXPECT_EQ(captured.use_count(), 1);  // the job is gone, though its thread is not
  block_on(pool->spawn([] {}));
  EXPECT_EQ(started, 1);
}

TEST(BlockingPoolJob, LetsGoOfItsCapturesAlsoOnANewThread) {
  ClosedAtEnd pool;
  auto captured = std::make_shared<int>(0);
  ASSERT_TRUE(pool->run_thread([captured] {}));
  until([&] { return pool->metrics().idle_threads == 1; });
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(BlockingPoolJob, SaysIfNoThreadCanBeStarted) {
  ThreadSource source;
  source.allow(0);
  ClosedAtEnd pool(BlockingOptions(), source);
  const auto result = pool->run_thread([] { ADD_FAILURE() << "was run"; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::resource_unavailable_try_again);
}

TEST(BlockingPoolJob, IsWaitedForAtTheEnd) {
  std::latch end(1);
  BlockingPool pool;
  ASSERT_TRUE(pool.run_thread([&] { end.wait(); }));
  pool.close();
  EXPECT_FALSE(pool.wait(nanoseconds(0)));
  end.count_down();
  EXPECT_TRUE(pool.wait());
}

TEST(BlockingPoolHooks, AreCalledOnceForEachThread) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  {
    BlockingOptions options;
    options.on_thread_start = [&] { ++started; };
    options.on_thread_stop = [&] { ++stopped; };
    ClosedAtEnd pool(options);
    Blocker first(*pool);
    Blocker second(*pool);
    ASSERT_TRUE(pool->run_thread([] {}));
    first.release();
    second.release();
  }
  EXPECT_EQ(started, 3);
  EXPECT_EQ(stopped, 3);
}

// --- All at once. ---

class Tally {
 public:
  std::atomic<int> ran{0};
  std::atomic<int> joined{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> refused{0};
  std::atomic<int> unhandled{0};  // refused, and detached
  std::atomic<int> alive{0};
};

/// Counts itself, so that nothing is lost and nothing destroyed twice.
class Counted {
 public:
  explicit Counted(Tally& tally) : tally_(&tally) { ++tally_->alive; }
  Counted(const Counted& other) : tally_(other.tally_) { ++tally_->alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --tally_->alive; }

 private:
  Tally* tally_;
};

void join(JoinHandle<int>& handle, Tally& tally) {
  try {
    block_on(handle);
    ++tally.joined;
  } catch (const JoinError&) {
    ++tally.cancelled;
  } catch (const std::system_error&) {
    ++tally.refused;
  }
}

/// Spawns, aborts, joins and detaches; gives how many it detached.
int use(BlockingPool& pool, Tally& tally, unsigned seed, int calls) {
  std::minstd_rand random(seed);
  std::vector<JoinHandle<int>> handles;
  int detached = 0;
  for (int i = 0; i < calls; ++i) {
    handles.push_back(pool.spawn([counted = Counted(tally), &tally, i] {
      ++tally.ran;
      return i;
    }));
    const auto choice = random() % 8;
    if (choice == 0) handles.back().abort();
    if (choice == 1) {
      handles.pop_back();
      ++detached;
    }
    if (choice == 2 && !handles.empty()) {
      join(handles.back(), tally);
      handles.pop_back();
    }
  }
  for (auto& handle : handles) join(handle, tally);
  return detached;
}

void stress(BlockingOptions options, bool close_midway) {
  constexpr int users = 4;
  constexpr int calls = 5000;
  Tally tally;
  std::atomic<int> detached{0};
  options.on_unhandled = [&](const UnhandledException&) { ++tally.unhandled; };
  {
    ClosedAtEnd pool(std::move(options));
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < users; ++i) {
      threads.emplace_back([&, i] { detached += use(*pool, tally, i + 1, calls); });
    }
    if (close_midway) {
      until([&] { return tally.ran > users * calls / 4; });
      pool->close();
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(tally.alive, 0);
  EXPECT_EQ(tally.joined + tally.cancelled + tally.refused + detached, users * calls);
  EXPECT_GE(tally.ran, tally.joined);
  EXPECT_LE(tally.ran + tally.cancelled + tally.refused + tally.unhandled, users * calls);
  EXPECT_GT(tally.joined, 0);
}

TEST(BlockingPoolStress, EveryCallEndsOnce) { stress(BlockingOptions(), false); }

TEST(BlockingPoolStress, WithThreadsThatEndAllTheTime) {
  BlockingOptions options;
  options.max_threads = 3;
  options.keep_alive = nanoseconds(1);
  stress(options, false);
}

TEST(BlockingPoolStress, WithAQueueThatIsOftenFull) {
  BlockingOptions options;
  options.max_threads = 2;
  options.queue_capacity = 4;
  options.keep_alive = std::chrono::microseconds(50);
  stress(options, false);
}

TEST(BlockingPoolStress, ClosedInTheMidst) {
  BlockingOptions options;
  options.max_threads = 2;
  stress(options, true);
}

}  // namespace
}  // namespace rouse
