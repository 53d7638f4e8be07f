// What a review of the thread pool found; each was a hang or a crash.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {
namespace {

using testing::Gate;

Async<int> one() { co_return 1; }
Async<void> never() { co_await pending_forever<void>(); }

class BlocksWhenDestroyed {
 public:
  explicit BlocksWhenDestroyed(std::atomic<int>& blocked) : blocked_(&blocked) {}
  BlocksWhenDestroyed(BlocksWhenDestroyed&& other) noexcept
      : blocked_(std::exchange(other.blocked_, nullptr)) {}
  ~BlocksWhenDestroyed() {
    if (blocked_) block_in_place([this] { ++*blocked_; });
  }

 private:
  std::atomic<int>* blocked_;
};

TEST(BlockInPlaceRegress, InADestructorOutsideOfAnyPoll) {
  std::atomic<int> blocked{0};
  {
    Runtime rt = Runtime::builder().worker_threads(2).build();
    auto waits = [](BlocksWhenDestroyed) -> Async<void> { co_await pending_forever<void>(); };
    auto aborted = rt.spawn(waits, BlocksWhenDestroyed(blocked));
    aborted.abort();
    EXPECT_THROW(rt.block_on(aborted), JoinError);
    auto gives = [](BlocksWhenDestroyed given) -> Async<BlocksWhenDestroyed> {
      co_return std::move(given);
    };
    rt.spawn(gives, BlocksWhenDestroyed(blocked)).detach();  // nobody takes its result
    EXPECT_EQ(rt.block_on(one()), 1);
  }
  EXPECT_EQ(blocked.load(), 2);
}

TEST(BlockInPlaceRegress, ATaskThatWaitsForAnotherLearnsOfTheEnd) {
  std::atomic<bool> told{false};
  Gate<void> blocks;
  {
    Runtime rt = Runtime::builder().worker_threads(2).build();
    auto waits = [&]() -> Async<void> {
      block_in_place([&] {
        auto handle = spawn(never);
        blocks.open();
        EXPECT_THROW(block_on(handle), JoinError);
        told = true;
      });
      co_return;
    };
    rt.spawn(waits).detach();
    rt.block_on(blocks.wait());
  }
  EXPECT_TRUE(told.load());
}

TEST(ScopeRegress, AWorkerThatWaitsForAChildLetsOthersHaveItsTasks) {
  // The scope ends on one worker, while its child blocks another until a task ran that waits in the
  // first one's LIFO slot.
  for (const std::size_t workers : {1U, 4U}) {
    Runtime rt = Runtime::builder().worker_threads(workers).build();
    std::atomic<bool> in_child{false};
    std::atomic<bool> go{false};
    std::optional<JoinHandle<int>> handle;
    auto child = [&]() -> Async<void> {
      block_in_place([&] {
        in_child = true;
        while (!go.load()) std::this_thread::yield();
        EXPECT_EQ(block_on(*handle), 1);
      });
      co_return;
    };
    auto fails = [&](Scope& s) -> Async<void> {
      s.spawn(child());
      while (!in_child.load()) co_await yield_now();
      handle.emplace(spawn(one));
      go = true;
      throw std::runtime_error("ends the scope");
    };
    EXPECT_THROW(rt.block_on(scope(std::ref(fails))), std::runtime_error);
  }
}

Async<int> yield_and_give_one() {
  co_await yield_now();
  co_return 1;
}
void expect_that_the_end_is_reported() {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const EnterGuard here = rt.enter();
  const Spawner keeps_it = rt.spawner();
  // Waited for: a worker that has not seen the end yet would still run the children.
  EXPECT_TRUE(rt.shutdown_timeout(std::chrono::minutes(1)));
  auto two = []() -> Async<void> { co_await parallel(yield_and_give_one(), yield_and_give_one()); };
  EXPECT_THROW(block_on(two()), JoinError);
  auto spawns = [](Scope& s) -> Async<void> {
    s.spawn(yield_and_give_one());
    co_return;
  };
  EXPECT_THROW(block_on(scope(std::ref(spawns))), JoinError);
}

TEST(ParallelRegress, ChildrenWhoseExecutorHasEndedAreReported) {
  expect_that_the_end_is_reported();
}

TEST(ParallelRegress, ABadAllocThatTheCallerHandlesIsNotWhyChildrenAreLost) {
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
    expect_that_the_end_is_reported();
  }
}

TEST(LocalSetRegress, ChildrenOfParallelStayOnItsThread) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto home = std::this_thread::get_id();
  auto part = [home]() -> Async<void> {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(std::this_thread::get_id(), home);
      co_await yield_now();
    }
  };
  auto both = [&]() -> Async<void> { co_await parallel(part(), part()); };
  LocalSet set;
  set.block_on(rt, both());
}

TEST(WakeRegress, AWakerGivenUpFromOutsideWhileThePoolEnds) {
  for (int round = 0; round < 300; ++round) {
    std::optional<Runtime> rt(Runtime::builder().worker_threads(2).build());
    std::atomic<bool> stored{false};
    Waker waker;
    auto store = [&](Context& cx) -> Poll<void> {
      if (!stored.load()) {
        waker = cx.waker();
        stored = true;
      }
      return pending;
    };
    rt->spawn(poll_fn(store)).detach();
    while (!stored.load()) std::this_thread::yield();
    std::thread other([w = std::move(waker)]() mutable { std::move(w).wake(); });
    rt.reset();
    other.join();
  }
}

/// Sends one more than there is room for.
Async<void> send_into_full(sync::Sender<int> tx, std::atomic<bool>& blocks) {
  for (int i = 0; i < 8; ++i) (void)co_await tx.send(i);
  blocks = true;
  block_in_place([&] { (void)block_on(tx.send(9)); });
}
Async<void> send_in_parallel(sync::Sender<int> tx, std::atomic<bool>& blocks) {
  co_await parallel(send_into_full(std::move(tx), blocks), never());
}
Async<void> send_in_scope(sync::Sender<int> tx, std::atomic<bool>& blocks) {
  auto body = [&](Scope& s) -> Async<void> {
    s.spawn(send_into_full(std::move(tx), blocks));
    co_await pending_forever<void>();
  };
  co_await scope(std::ref(body));
}
/// Receives, which gives the sender room at the end of the poll, and drops the sender's region in
/// the same poll.
Async<int> receive_and_drop(sync::Receiver<int> rx, Async<void> work, std::atomic<bool>& blocks) {
  auto work_begun = [&](Context& cx) -> Poll<void> {
    EXPECT_TRUE(work.poll(cx).is_pending());
    if (blocks.load() && rx.capacity() == 0) return Poll<void>::ready();
    cx.waker().wake_by_ref();
    return pending;
  };
  co_await poll_fn(work_begun);
  auto first = co_await select_biased(rx.recv(), std::move(work));
  co_return first.index() == 0 ? *std::get<0>(std::move(first)) : -1;
}

TEST(ParallelRegress, WhoDropsARegionHasServedSendersBefore) {
  for (const std::size_t workers : {1U, 2U, 4U}) {
    for (const bool in_scope : {false, true}) {
      Runtime rt = Runtime::builder().worker_threads(workers).build();
      std::atomic<bool> blocks{false};
      auto [tx, rx] = sync::channel<int>(8);
      Async<void> work =
          in_scope ? send_in_scope(std::move(tx), blocks) : send_in_parallel(std::move(tx), blocks);
      EXPECT_EQ(rt.block_on(receive_and_drop(std::move(rx), std::move(work), blocks)), 0);
    }
  }
}

/// A region in a place of its own, polled by a task, whose child drops it.
class DropsItself {
 public:
  Async<void> in_parallel() { co_await parallel(drop(), never()); }
  Async<void> in_scope() {
    auto body = [this](Scope& s) -> Async<void> {
      s.spawn(drop());
      co_await pending_forever<void>();
    };
    co_await scope(std::ref(body));
  }
  auto run(Async<void> region) {
    region_.emplace(std::move(region));
    return poll_fn([this](Context& cx) {
      auto polled = region_->poll(cx);
      was_polled_.store(true);
      return polled;
    });
  }

 private:
  // Not before the poll of the region has returned: until then another worker runs the coroutine
  // that awaits it, and that is what would be told.
  Async<void> drop() {
    while (!was_polled_.load()) co_await yield_now();
    region_.reset();
  }
  std::optional<Async<void>> region_;
  std::atomic<bool> was_polled_{false};
};

constexpr const char* drops_itself = "drops the parallel or scope that it is part of";

TEST(ParallelRegressDeathTest, AChildThatDropsItsOwnRegionIsStopped) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool on_pool : {false, true}) {
    const auto drop = [on_pool](auto region) {
      auto builder = Runtime::builder();
      Runtime rt = (on_pool ? builder.worker_threads(2) : builder.current_thread()).build();
      DropsItself self;
      rt.block_on(self.run((self.*region)()));
    };
    EXPECT_DEATH(drop(&DropsItself::in_parallel), drops_itself);
    EXPECT_DEATH(drop(&DropsItself::in_scope), drops_itself);
  }
}

TEST(RuntimeRegressDeathTest, DroppedByADetourInsideItself) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<Runtime>(Runtime::builder().worker_threads(2).build());
        auto drops = [&]() -> Async<void> {
          block_in_place([&] { rt.reset(); });
          co_return;
        };
        rt->block_on(drops());
      },
      "shutdown_background");
}

TEST(RuntimeRegressDeathTest, TwoThreadsInOneCurrentThreadRuntime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Runtime rt = Runtime::builder().current_thread().build();
        Gate<void> inside;
        auto waits = [&]() -> Async<void> {
          inside.open();
          co_await pending_forever<void>();
        };
        std::thread first([&] { rt.block_on(waits()); });
        block_on(inside.wait());
        rt.block_on(one());
      },
      "two threads run one");
}

}  // namespace
}  // namespace rouse
