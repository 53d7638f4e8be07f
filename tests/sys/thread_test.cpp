// Threads with a name and a stack size; the clock; the timed wait.
#include "sys/thread.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"

#include "sys/clock.hpp"

namespace rouse::sys {
namespace {

std::string current_name() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

std::size_t current_stack_size() {
  pthread_attr_t attributes;
  ::pthread_getattr_np(::pthread_self(), &attributes);
  std::size_t size = 0;
  ::pthread_attr_getstacksize(&attributes, &size);
  ::pthread_attr_destroy(&attributes);
  return size;
}

TEST(Thread, RunsItsBodyUnderItsName) {
  std::string name;
  auto thread = Thread::start({.name = "worker-7"}, [&] { name = current_name(); });
  ASSERT_TRUE(thread);
  EXPECT_TRUE(thread->joinable());
  thread->join();
  EXPECT_FALSE(thread->joinable());
  EXPECT_EQ(name, "worker-7");
}

TEST(Thread, ANameThatIsTooLongIsCut) {
  std::string name;
  Thread::start({.name = "a-name-of-20-letters"}, [&] { name = current_name(); }).value().join();
  EXPECT_EQ(name, "a-name-of-20-le");
}

TEST(Thread, WithoutANameHasThatOfItsStarter) {
  std::string name;
  Thread::start({}, [&] { name = current_name(); }).value().join();
  EXPECT_EQ(name, current_name());
}

TEST(Thread, HasTheStackItAskedFor) {
  constexpr std::size_t wanted = 64 << 20;  // more than the system gives by itself
  std::size_t size = 0;
  Thread::start({.stack_size = wanted}, [&] { size = current_stack_size(); }).value().join();
  EXPECT_GE(size, wanted);
}

TEST(Thread, AStackThatIsTooSmallIsAnError) {
  const auto thread = Thread::start({.stack_size = 1024}, [] { FAIL() << "was run"; });
  ASSERT_FALSE(thread);
  EXPECT_EQ(thread.error(), std::errc::invalid_argument);
}

TEST(Thread, AStackThatIsTooLargeIsAnErrorAndNoException) {
  const auto thread =
      Thread::start({.stack_size = std::size_t{1} << 60}, [] { FAIL() << "was run"; });
  ASSERT_FALSE(thread);
  EXPECT_EQ(thread.error(), std::errc::resource_unavailable_try_again);
}

TEST(Thread, ADetachedOneRunsOn) {
  Mutex mutex;
  CondVar changed;
  bool done = false;
  Thread::start({},
                [&] {
                  const Lock lock(mutex);
                  done = true;
                  changed.notify_one();
                })
      .value()
      .detach();
  Lock lock(mutex);
  while (!done) changed.wait(lock);
}

TEST(ThreadDeathTest, DestroyingAJoinableOneAborts) {
  EXPECT_DEATH((void)Thread::start({}, [] {}), "destroyed before it was joined or detached");
}

TEST(Clock, NeverGoesBack) {
  std::uint64_t last = monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = monotonic_ns();
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 0U);
}

TEST(WaitFor, EndsWhenTheTimeHasPassed) {
  Mutex mutex;
  CondVar never;
  Lock lock(mutex);
  const std::uint64_t start = monotonic_ns();
  while (wait_for(never, lock, std::chrono::milliseconds(2))) {
  }
  EXPECT_GE(monotonic_ns() - start, 2'000'000U);
  EXPECT_FALSE(wait_for(never, lock, std::chrono::nanoseconds(0)));
  EXPECT_FALSE(wait_for(never, lock, std::chrono::nanoseconds(-1)));
  EXPECT_FALSE(wait_for(never, lock, std::chrono::nanoseconds::min()));
}

TEST(WaitFor, TheLongestTimeIsWaitedAndEndsWithANotification) {
  Mutex mutex;
  CondVar changed;
  bool done = false;
  Lock lock(mutex);
  Thread notifier = Thread::start({}, [&] {
                      const Lock inner(mutex);  // only free once the other one waits
                      done = true;
                      changed.notify_one();
                    }).value();
  while (!done) EXPECT_TRUE(wait_for(changed, lock, std::chrono::nanoseconds::max()));
  lock.unlock();
  notifier.join();
}

}  // namespace
}  // namespace rouse::sys
