#include "rouse/thread/thread.hpp"

#include <array>
#include <functional>
#include <memory>
#include <pthread.h>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace rouse::thread {
namespace {

/// A thread that says when it runs and waits until it may end.
struct Held {
  std::binary_semaphore running{0};
  std::binary_semaphore may_end{0};

  int run() {
    running.release();
    may_end.acquire();
    return 42;
  }
};

Async<int> join_one() {
  auto thread = thread::spawn([](int a, int b) { return a + b; }, 2, 3);
  co_return co_await thread.join();
}

TEST(Thread, IsJoinedOnEveryExecutor) {
  EXPECT_EQ(block_on(join_one()), 5);
  LocalExecutor local;
  EXPECT_EQ(local.run_until(join_one()), 5);
  ThreadPool pool;
  EXPECT_EQ(block_on(pool.spawn(join_one())), 5);
  Runtime current = Runtime::builder().current_thread().build();
  EXPECT_EQ(current.block_on(join_one()), 5);
  Runtime runtime = Runtime::builder().worker_threads(2).build();
  EXPECT_EQ(runtime.block_on(join_one()), 5);
}

TEST(Thread, RunsOnAThreadOfItsOwn) {
  const auto id = block_on(thread::spawn([] { return std::this_thread::get_id(); }).join());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(Thread, TheJoinIsWokenWhenTheFunctionHasReturned) {
  Held held;
  auto thread = thread::spawn(&Held::run, &held);
  held.running.acquire();
  EXPECT_FALSE(thread.is_finished());
  testing::PollHarness join(thread.join());
  EXPECT_TRUE(join.poll().is_pending());
  EXPECT_TRUE(join.kept_waker());
  held.may_end.release();
  while (!join.is_woken()) std::this_thread::yield();
  auto polled = join.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value(), 42);
}

TEST(Thread, AskingWhetherItHasEndedKeepsItsResult) {
  auto thread = thread::spawn([] { return std::make_unique<int>(7); });
  while (!thread.is_finished()) std::this_thread::yield();
  auto moved = std::move(thread);
  EXPECT_TRUE(moved.is_finished());
  EXPECT_EQ(*block_on(moved.join()), 7);
}

TEST(Thread, WhatItThrowsIsThrownByTheJoin) {
  auto thread = thread::spawn([] { throw std::runtime_error("broken sensor"); });
  try {
    block_on(thread.join());
    FAIL() << "the join did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "broken sensor");
  }
}

TEST(Thread, AReferenceIsGivenBackAsOne) {
  int value = 1;
  auto thread = thread::spawn([](int& x) -> int& { return ++x; }, std::ref(value));
  EXPECT_EQ(&block_on(thread.join()), &value);
  EXPECT_EQ(value, 2);
}

TEST(Thread, FunctionAndArgumentsAreGoneWhenItIsJoined) {
  const auto counted = std::make_shared<int>(1);
  auto thread =
      thread::spawn([counted](std::shared_ptr<int> argument) { return *argument; }, counted);
  EXPECT_EQ(block_on(thread.join()), 1);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Thread, MayOwnWhatCanOnlyBeMoved) {
  auto thread =
      thread::spawn([a = std::make_unique<int>(2)](std::unique_ptr<int> b) { return *a + *b; },
                    std::make_unique<int>(3));
  EXPECT_EQ(block_on(thread.join()), 5);
}

TEST(Thread, ADroppedJoinLetsItRunOn) {
  Held held;
  static std::binary_semaphore ended{0};  // the thread may be in `release` a little longer
  {
    auto thread = thread::spawn([&] {
      held.run();
      ended.release();
    });
    held.running.acquire();
    testing::PollHarness join(thread.join());
    EXPECT_TRUE(join.poll().is_pending());
  }
  held.may_end.release();
  ended.acquire();
}

TEST(Thread, OutlivesTheRuntimeThatStartedIt) {
  Held held;
  static std::binary_semaphore ended{0};  // the thread may be in `release` a little longer
  {
    Runtime runtime = Runtime::builder().worker_threads(1).build();
    runtime.block_on([&]() -> Async<> {
      thread::spawn([&] {
        held.run();
        ended.release();
      }).detach();
      co_return;
    }());
    held.running.acquire();
    // A task that waits for a thread is destroyed with the runtime; the thread is not.
    runtime
        .spawn([]() -> Async<> {
          auto other = thread::spawn([] {});
          co_await other.join();
        })
        .detach();
  }
  held.may_end.release();
  ended.acquire();
}

TEST(Thread, AnExceptionThatNobodyJoinsIsToldOnStderr) {
  ::testing::internal::CaptureStderr();
  {
    auto thread = thread::spawn([] { throw std::runtime_error("unheard"); });
    while (!thread.is_finished()) std::this_thread::yield();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rouse: a thread ended with an exception that nobody joined: unheard\n");
}

TEST(Thread, AThreadThatFailsAfterItWasDetachedTellsItself) {
  ::testing::internal::CaptureStderr();
  Held held;
  // The last of its thread_local objects goes after the report.
  static std::binary_semaphore gone{0};
  struct Last {
    ~Last() { gone.release(); }
  };
  auto thread = thread::spawn([&] {
    thread_local Last last;
    (void)&last;
    held.run();
    throw std::runtime_error("unheard");
  });
  held.running.acquire();
  thread.detach();
  held.may_end.release();
  gone.acquire();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rouse: a thread ended with an exception that nobody joined: unheard\n");
}

TEST(Thread, TheBuilderGivesItANameAndAStack) {
  const std::string name =
      block_on(thread::Builder()
                   .name("a-name-longer-than-15")
                   .spawn([] {
                     std::array<char, 32> text{};
                     ::pthread_getname_np(::pthread_self(), text.data(), text.size());
                     return std::string(text.data());
                   })
                   .join());
  EXPECT_EQ(name, "a-name-longer-t");

  constexpr std::size_t size = std::size_t{32} << 20U;
  const std::size_t stack = block_on(thread::Builder()
                                         .stack_size(size)
                                         .spawn([] {
                                           pthread_attr_t attributes;
                                           std::size_t found = 0;
                                           ::pthread_getattr_np(::pthread_self(), &attributes);
                                           ::pthread_attr_getstacksize(&attributes, &found);
                                           ::pthread_attr_destroy(&attributes);
                                           return found;
                                         })
                                         .join());
  EXPECT_GE(stack, size - 65'536);  // the system keeps a part for itself
}

TEST(Thread, WhatTheSystemDoesNotStartThrows) {
  bool ran = false;
  EXPECT_THROW(thread::Builder().stack_size(1).spawn([&] { ran = true; }).detach(),
               std::system_error);
  EXPECT_FALSE(ran);
}

TEST(Thread, AHandleThatWasDetachedHasNothingToJoin) {
  auto thread = thread::spawn([] {});
  thread.detach();
  EXPECT_THROW(block_on(thread.join()), std::system_error);
}

}  // namespace
}  // namespace rouse::thread
