// The end of a runtime while its tasks block: in block_in_place, in blocking calls, in the drop of
// a parallel or a scope; and what a task sees of it that is still polled. What hangs here is
// stopped by ctest.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using testing::Gate;

Async<void> never() { co_await pending_forever<void>(); }

/// Whether what it waits for was cancelled.
bool is_cancelled(JoinHandle<void>& handle) {
  try {
    block_on(handle);
    return false;
  } catch (const JoinError&) {
    return true;
  }
}

/// Blocks the thread until another one sets it. Copies are the same flag.
class Flag {
 public:
  void set() const { done_->release(); }
  void wait() const {
    done_->acquire();
    done_->release();
  }

 private:
  std::shared_ptr<std::counting_semaphore<>> done_ = std::make_shared<std::counting_semaphore<>>(0);
};

/// Sets the flag when it goes.
class SetsWhenDropped {
 public:
  explicit SetsWhenDropped(Flag flag) noexcept : flag_(std::move(flag)) {}
  SetsWhenDropped(SetsWhenDropped&& other) noexcept
      : flag_(std::exchange(other.flag_, std::nullopt)) {}
  ~SetsWhenDropped() {
    if (flag_) flag_->set();
  }

 private:
  std::optional<Flag> flag_;
};

/// Sets `began` as soon as the end of the runtime, which has one blocking thread, has begun: a call
/// that waits for a thread is cancelled then.
void tell_end(const Runtime& rt, const Flag& began) {
  rt.spawn_blocking([began] { began.wait(); }).detach();
  rt.spawn_blocking([told = SetsWhenDropped(began)] {}).detach();
}

class Shutdown : public ::testing::TestWithParam<std::size_t> {
 protected:
  static RuntimeBuilder builder() { return Runtime::builder().worker_threads(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Workers, Shutdown, ::testing::Values(1U, 2U, 4U),
                         [](const auto& workers) { return std::to_string(workers.param); });

// What tasks refer to is declared before the runtime, which ends first.

// --- A task that blocks, and the end. ---

TEST_P(Shutdown, ATaskIsNotDestroyedWhileItIsPolled) {
  auto loops = []() -> Async<void> {
    for (;;) {
      block_in_place([] { std::this_thread::sleep_for(300us); });
      co_await yield_now();
    }
  };
  for (int i = 0; i < 60; ++i) {
    const Runtime rt = builder().build();
    for (int k = 0; k < 4; ++k) rt.spawn(loops).detach();
    std::this_thread::sleep_for(3ms);
  }
}

TEST_P(Shutdown, WhoBlocksOnANewTaskAfterTheEndBeganIsTold) {
  Flag began;
  Flag runs;
  std::atomic<int> told{0};
  auto waits = [&]() -> Async<void> {
    runs.set();
    began.wait();
    block_in_place([&] {
      auto handle = spawn(never);
      told += is_cancelled(handle) ? 1 : 0;
    });
    co_return;
  };
  {
    const Runtime rt = builder().max_blocking_threads(1).build();
    tell_end(rt, began);
    rt.spawn(waits).detach();
    runs.wait();
  }
  EXPECT_EQ(told.load(), 1);
}

TEST_P(Shutdown, WhoBlocksOnATaskOfItsOwnQueueAfterTheEndBeganIsTold) {
  Flag began;
  Flag runs;
  std::atomic<int> told{0};
  auto waits = [&]() -> Async<void> {
    auto handle = spawn(never);  // in the worker's own queue
    runs.set();
    began.wait();
    block_in_place([&] { told += is_cancelled(handle) ? 1 : 0; });
    co_return;
  };
  {
    const Runtime rt = builder().max_blocking_threads(1).build();
    tell_end(rt, began);
    rt.spawn(waits).detach();
    runs.wait();
  }
  EXPECT_EQ(told.load(), 1);
}

TEST_P(Shutdown, ATaskThatBlockedEndsWithItsPollAndWhoAwaitsItIsTold) {
  Flag swept;
  Flag a_blocks;
  Flag b_blocks;
  std::atomic<bool> told{false};
  auto a = [&]() -> Async<void> {
    block_in_place([&] {
      a_blocks.set();
      swept.wait();
      std::this_thread::sleep_for(20ms);  // most likely the sweep is over
    });
    co_await pending_forever<void>();
  };
  auto b = [&](JoinHandle<void> handle) -> Async<void> {
    block_in_place([&] {
      b_blocks.set();
      told = is_cancelled(handle);
    });
    co_return;
  };
  auto c = [](SetsWhenDropped) -> Async<void> { co_await pending_forever<void>(); };
  {
    const Runtime rt = builder().build();
    rt.spawn(b, rt.spawn(a)).detach();
    a_blocks.wait();
    b_blocks.wait();
    rt.spawn(c, SetsWhenDropped(swept)).detach();
  }
  EXPECT_TRUE(told.load());
}

TEST_P(Shutdown, TasksThatBlockOnEachOtherInAChainAllEnd) {
  constexpr int length = 6;
  std::atomic<int> told{0};
  std::counting_semaphore<> blocks(0);
  auto link = [&](JoinHandle<void> next) -> Async<void> {
    block_in_place([&] {
      blocks.release();
      told += is_cancelled(next) ? 1 : 0;
    });
    co_await pending_forever<void>();
  };
  {
    const Runtime rt = builder().build();
    JoinHandle<void> last = rt.spawn(never);
    for (int i = 0; i < length; ++i) last = rt.spawn(link, std::move(last));
    for (int i = 0; i < length; ++i) blocks.acquire();
  }
  EXPECT_EQ(told.load(), length);
}

/// Blocks when it goes, until a task has ended.
class BlocksOn {
 public:
  BlocksOn(JoinHandle<void> handle, std::atomic<int>& told) noexcept
      : handle_(std::move(handle)), told_(&told) {}
  BlocksOn(BlocksOn&& other) noexcept
      : handle_(std::move(other.handle_)), told_(std::exchange(other.told_, nullptr)) {}
  ~BlocksOn() {
    if (told_) block_in_place([this] { *told_ += is_cancelled(handle_) ? 1 : 0; });
  }

 private:
  JoinHandle<void> handle_;
  std::atomic<int>* told_;
};

TEST_P(Shutdown, ADestructorThatBlocksOnAnotherTaskLetsTheSweepGoOn) {
  constexpr int pairs = 10;
  std::atomic<int> told{0};
  std::counting_semaphore<> holds_it(0);
  auto holder = [&](sync::OneshotReceiver<JoinHandle<void>> from) -> Async<void> {
    auto handle = co_await std::move(from);
    const BlocksOn blocks(std::move(*handle), told);
    holds_it.release();
    co_await pending_forever<void>();
  };
  {
    const Runtime rt = builder().build();
    // The first of each pair is in the table before the second, for which it waits.
    for (int i = 0; i < pairs; ++i) {
      auto [tx, rx] = sync::oneshot<JoinHandle<void>>();
      rt.spawn(holder, std::move(rx)).detach();
      (void)std::move(tx).send(rt.spawn(never));
    }
    for (int i = 0; i < pairs; ++i) holds_it.acquire();
  }
  EXPECT_EQ(told.load(), pairs);
}

// --- Regions. ---

/// A child of a parallel or a scope; blocks until it is told that a task has ended, which is in the
/// table after its parent.
class BlockingChild {
 public:
  Async<void> run() {
    auto handle = co_await later_.wait();
    block_in_place([&] {
      blocks_.set();
      told_ = is_cancelled(handle);
    });
  }
  void start(const Runtime& rt) {
    later_.open(rt.spawn(never));
    blocks_.wait();
  }
  bool is_told() const { return told_.load(); }

 private:
  Gate<JoinHandle<void>> later_;
  Flag blocks_;
  std::atomic<bool> told_{false};
};

TEST_P(Shutdown, AParentIsSweptWhoseChildBlocksOnATaskThatIsSweptLater) {
  for (int i = 0; i < 20; ++i) {
    BlockingChild child;
    auto parent = [&]() -> Async<void> { co_await parallel(child.run(), never()); };
    {
      const Runtime rt = builder().build();
      rt.spawn(parent).detach();
      child.start(rt);
    }
    EXPECT_TRUE(child.is_told());
  }
}

TEST_P(Shutdown, ManyParentsAreSweptWhoseChildrenBlockOnTasksThatAreSweptLater) {
  std::vector<BlockingChild> children(5);
  auto parent = [](BlockingChild& child) -> Async<void> {
    co_await parallel(child.run(), never());
  };
  {
    const Runtime rt = builder().max_blocking_threads(6).build();
    for (auto& child : children) rt.spawn(parent, std::ref(child)).detach();
    for (auto& child : children) child.start(rt);
  }
  for (auto& child : children) EXPECT_TRUE(child.is_told());
}

TEST_P(Shutdown, AScopeIsSweptWhoseChildBlocksOnATaskThatIsSweptLater) {
  BlockingChild child;
  auto body = [&](Scope& s) -> Async<void> {
    s.spawn(child.run());
    co_await pending_forever<void>();
  };
  auto parent = [&]() -> Async<void> { co_await scope(std::ref(body)); };
  {
    const Runtime rt = builder().build();
    rt.spawn(parent).detach();
    child.start(rt);
  }
  EXPECT_TRUE(child.is_told());
}

TEST_P(Shutdown, AChildThatBlocksOnASocketLearnsOfTheEnd) {
  std::atomic<bool> told{false};
  Flag blocks;
  auto child = [&]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    block_in_place([&] {
      blocks.set();
      try {
        (void)block_on(listener.accept());
      } catch (const std::system_error&) {
        told = true;
      }
    });
  };
  auto parent = [&]() -> Async<void> { co_await parallel(child(), never()); };
  {
    const Runtime rt = builder().build();
    rt.spawn(parent).detach();
    blocks.wait();
  }
  EXPECT_TRUE(told.load());
}

// --- Other ways to end, and others that wait. ---

// What outlives these tests has copies of the flags.
TEST_P(Shutdown, InTheBackgroundTheTasksThatBlockEndToo) {
  Flag began;
  Flag runs;
  Flag ended;
  auto waits = [=](SetsWhenDropped) -> Async<void> {
    auto handle = spawn(never);
    runs.set();
    began.wait();
    block_in_place([&] { EXPECT_TRUE(is_cancelled(handle)); });
    co_await pending_forever<void>();
  };
  Runtime rt = builder().max_blocking_threads(1).build();
  tell_end(rt, began);
  rt.spawn(waits, SetsWhenDropped(ended)).detach();
  runs.wait();
  rt.shutdown_background();
  ended.wait();
}

TEST_P(Shutdown, ATimeoutHoldsWhileATaskBlocks) {
  Flag release;
  Flag blocks;
  Flag ended;
  auto waits = [=](SetsWhenDropped) -> Async<void> {
    block_in_place([&] {
      blocks.set();
      release.wait();
    });
    co_await pending_forever<void>();
  };
  Runtime rt = builder().build();
  rt.spawn(waits, SetsWhenDropped(ended)).detach();
  blocks.wait();
  EXPECT_FALSE(rt.shutdown_timeout(5ms));
  release.set();
  ended.wait();
}

TEST_P(Shutdown, AHandleOfAnotherRuntimeThatEndsIsTold) {
  std::atomic<int> told{0};
  std::counting_semaphore<> blocks(0);
  auto waits = [&](JoinHandle<void> handle) -> Async<void> {
    block_in_place([&] {
      blocks.release();
      told += is_cancelled(handle) ? 1 : 0;
    });
    co_await pending_forever<void>();
  };
  Runtime one = builder().build();
  Runtime other = builder().build();
  // Tasks of the two runtimes wait for each other in turn.
  JoinHandle<void> last =
      other.spawn(waits, one.spawn(waits, other.spawn(waits, one.spawn(never))));
  auto call = one.spawn_blocking(
      [&](JoinHandle<void> handle) {
        blocks.release();
        told += is_cancelled(handle) ? 1 : 0;
      },
      std::move(last));
  for (int i = 0; i < 4; ++i) blocks.acquire();
  std::thread ends([&other] { const Runtime ended = std::move(other); });
  {
    const Runtime ended = std::move(one);
  }
  ends.join();
  EXPECT_EQ(told.load(), 4);
}

void expect_that_calls_are_told(const Runtime& rt, std::atomic<int>& told) {
  std::counting_semaphore<> blocks(0);
  for (int i = 0; i < 3; ++i) {
    rt.spawn_blocking([&] {
        auto handle = spawn(never);
        blocks.release();
        told += is_cancelled(handle) ? 1 : 0;
      }).detach();
  }
  for (int i = 0; i < 3; ++i) blocks.acquire();
}

TEST_P(Shutdown, ABlockingCallThatWaitsForATaskIsTold) {
  std::atomic<int> told{0};
  expect_that_calls_are_told(builder().build(), told);
  EXPECT_EQ(told.load(), 3);
}

TEST(ShutdownOfCurrentThread, ABlockingCallThatWaitsForATaskIsTold) {
  std::atomic<int> told{0};
  expect_that_calls_are_told(Runtime::builder().current_thread().build(), told);
  EXPECT_EQ(told.load(), 3);
}

// --- The number of threads. ---

TEST_P(Shutdown, ThreadsThatTakeWorkersOverCountAsBlockingOnes) {
  constexpr std::size_t limit = 8;
  constexpr int tasks = 100;
  std::atomic<std::size_t> threads{0};
  std::atomic<std::size_t> most{0};
  std::atomic<int> done{0};
  auto blocks = [&]() -> Async<void> {
    block_in_place([] { std::this_thread::sleep_for(2ms); });
    co_await yield_now();
    // One thread is left for calls, or this would never end.
    block_in_place([] { block_on(spawn_blocking([] {})); });
    ++done;
  };
  {
    const Runtime rt = builder()
                           .max_blocking_threads(limit)
                           .on_thread_start([&] {
                             const std::size_t now = ++threads;
                             std::size_t before = most.load();
                             while (before < now && !most.compare_exchange_weak(before, now)) {
                             }
                           })
                           .on_thread_stop([&] { --threads; })
                           .build();
    std::vector<JoinHandle<void>> all;
    for (int i = 0; i < tasks; ++i) all.push_back(rt.spawn(blocks));
    for (auto& task : all) block_on(task);
  }
  EXPECT_EQ(done.load(), tasks);
  EXPECT_LE(most.load(), limit + GetParam());
}

TEST(BlockInPlace, AtTheLimitAnotherWorkerGoesOnWithWhatWaitedBehind) {
  std::atomic<int> ran{0};
  auto counts = [&]() -> Async<void> {
    ++ran;
    co_return;
  };
  auto waits = [&]() -> Async<void> {
    auto pushed_out = spawn(counts);
    auto in_lifo_slot = spawn(counts);
    block_in_place([&] {
      block_on(pushed_out);
      block_on(in_lifo_slot);
      block_on(spawn(counts));
    });
    co_await yield_now();  // it has its worker again
    co_await spawn(counts);
  };
  Runtime rt = Runtime::builder().worker_threads(2).max_blocking_threads(1).build();
  rt.block_on(waits());
  EXPECT_EQ(ran.load(), 4);
}

TEST(BlockInPlace, AtTheLimitTheEndReachesATaskThatKeptItsWorker) {
  std::atomic<bool> told{false};
  Flag blocks;
  auto waits = [&]() -> Async<void> {
    auto handle = spawn(never);
    block_in_place([&] {
      blocks.set();
      told = is_cancelled(handle);
    });
    co_await pending_forever<void>();
  };
  {
    const Runtime rt = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
    rt.spawn(waits).detach();
    blocks.wait();
  }
  EXPECT_TRUE(told.load());
}

TEST(AtTheEnd, WhatIsSpawnedAfterItIsCancelledAtOnceWhileAWorkerIsStillInAPoll) {
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  Runtime rt = Runtime::builder().worker_threads(1).build();
  const Spawner spawner = rt.spawner();
  auto spins = [&]() -> Async<void> {
    inside = true;
    while (!go.load()) std::this_thread::yield();
    co_return;
  };
  auto handle = rt.spawn(spins);
  while (!inside.load()) std::this_thread::yield();
  rt.shutdown_background();
  auto late = spawner.spawn(never);
  EXPECT_TRUE(late.is_finished());
  go = true;
  EXPECT_THROW(block_on(late), JoinError);
  block_on(handle);
}

TEST(AtTheEnd, ATaskThatFailsBecauseOfItIsNotReported) {
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  std::atomic<int> reports{0};
  std::promise<void> stopped;
  Runtime rt = Runtime::builder()
                   .worker_threads(1)
                   .on_unhandled([&](const UnhandledException&) { ++reports; })
                   .on_thread_stop([&] { stopped.set_value(); })
                   .build();
  auto calls = [&]() -> Async<void> {
    inside = true;
    while (!go.load()) std::this_thread::yield();
    co_await spawn_blocking([] {});
  };
  rt.spawn(calls).detach();
  while (!inside.load()) std::this_thread::yield();
  rt.shutdown_background();
  go = true;
  stopped.get_future().wait();
  EXPECT_EQ(reports.load(), 0);
}

TEST(AtTheEnd, AnyOtherFailureMeanwhileIsReported) {
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  std::promise<void> reported;
  Runtime rt = Runtime::builder()
                   .worker_threads(1)
                   .on_unhandled([&](const UnhandledException&) { reported.set_value(); })
                   .build();
  auto fails = [&]() -> Async<void> {
    inside = true;
    while (!go.load()) std::this_thread::yield();
    throw std::runtime_error("disk full");
    co_return;
  };
  rt.spawn(fails).detach();
  while (!inside.load()) std::this_thread::yield();
  rt.shutdown_background();
  go = true;
  reported.get_future().wait();
}

}  // namespace
}  // namespace rouse
