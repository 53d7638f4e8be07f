// What a runtime stands on: epoll, its eventfd, and the calls that wait.
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

void build_runtimes(Runtime&) {
  Runtime::builder().current_thread().build().block_on(exchange());
  Runtime::builder().worker_threads(2).build().block_on(exchange());
}

void build_and_drop_runtimes(Runtime&) {
  const Runtime one = Runtime::builder().current_thread().build();
  const Runtime other = Runtime::builder().worker_threads(2).build();
}

Async<void> make_and_drop_a_socket() { auto socket = co_await net::UdpSocket::bind("127.0.0.1:0"); }

Async<void> wait_for_a_timer() { co_await sleep(std::chrono::milliseconds(2)); }

/// Every wait for a blocking call ends with an unpark.
Async<void> wait_for_another_thread() {
  for (int i = 0; i < 20; ++i) {
    auto call = [i] {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      return i;
    };
    EXPECT_EQ(co_await spawn_blocking(std::move(call)), i);
  }
}

/// Until the workers sleep for good, by the call that fails. The last one to go to sleep is the
/// watcher for a while, and waits in another way.
Async<void> wait_until_all_sleep() {
  for (int i = 0; i < 20; ++i) {
    const long before = Injection::asked();
    co_await spawn_blocking([before] {
      while (Injection::asked() == before) std::this_thread::yield();
    });
  }
}

TEST(FaultyPoller, ARuntimeWithoutAnEpollIsNotBuilt) {
  Site("epoll_create1", "build a Runtime", build_runtimes).try_all();
  Site("eventfd", "build a Runtime", build_runtimes).try_all();
}

/// Without it while it lives.
class WithoutStandardInput {
 public:
  WithoutStandardInput() : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    ::close(STDIN_FILENO);
  }
  WithoutStandardInput(const WithoutStandardInput&) = delete;
  WithoutStandardInput& operator=(const WithoutStandardInput&) = delete;
  ~WithoutStandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

void build_without_standard_input(Runtime&) {
  const WithoutStandardInput without;
  const Runtime rt = Runtime::builder().current_thread().build();
  EXPECT_GE(::fcntl(STDIN_FILENO, F_GETFL), 0);
}

TEST(FaultyPoller, AStandardStreamThatCannotBeReplacedIsReported) {
  Site("open", "build a Runtime without standard input", build_without_standard_input)
      .retried({EINTR})
      .try_all();
  Site("fcntl(F_GETFL)", "build a Runtime", build_and_drop_runtimes)
      .ignored("what was opened in its place is closed")
      .try_all();
}

TEST(FaultyPoller, WhatCannotBeWatchedIsReported) {
  Site("epoll_ctl(ADD)", "build a Runtime, and use it", build_runtimes)
      .except({EPERM, ENOMEM, ENOSPC})
      .try_all();
  Site("epoll_ctl(ADD)", "build a Runtime", build_and_drop_runtimes).try_all();
  Site("epoll_ctl(ADD)", "bind", make_and_drop_a_socket)
      .reported_as(EPERM, io::make_error_code(io::Error::not_pollable), "reported as not_pollable")
      .try_all();
}

TEST(FaultyPoller, ADescriptorThatCannotBeRemovedIsClosedAllTheSame) {
  Site("epoll_ctl(DEL)", "drop a socket", make_and_drop_a_socket)
      .ignored("closed, which removes it")
      .try_all();
}

TEST(FaultyPoller, AnInterruptedWakeIsDoneAgain) {
  Site("eventfd_write", "wait for a thread", wait_for_another_thread)
      .retried({EINTR})
      .except({EAGAIN, EBADF, EINVAL})
      .only_first(10)
      .try_all();
}

TEST(FaultyPoller, AnInterruptedWaitIsDoneAgain) {
  Site("epoll_wait", "wait for a thread", wait_until_all_sleep)
      .retried({EINTR})
      .except({EBADF, EINVAL})
      .only_first(20)
      .try_all();
}

TEST(FaultyPoller, WithoutNanosecondsTheWaitIsInMilliseconds) {
  Site("epoll_pwait2", "a timer", wait_for_a_timer)
      .retried({EINTR})
      .ignored({EBADF, EINVAL}, "the wait is in milliseconds")
      .except({ENOSYS, EPERM})
      .only_on(On::current_thread)
      .try_all();
}

/// What is known of the kernel is known to the whole process: each in one of its own.
void expect_milliseconds_after(int error) {
  Injection injection(Fault("epoll_pwait2", error).always());
  Runtime rt = make_runtime(On::current_thread);
  rt.block_on(wait_for_a_timer());
  rt.block_on(wait_for_a_timer());
  EXPECT_EQ(injection.hits(), 1);
  add_row("epoll_pwait2", name_of_error(error), "two timers", 1,
          "the wait is in milliseconds, from then on");
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(FaultyPoller, AKernelWithoutNanosecondsIsAskedOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(expect_milliseconds_after(ENOSYS), ::testing::ExitedWithCode(0), "");
}

TEST(FaultyPoller, ASandboxThatForbidsNanosecondsIsAskedOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(expect_milliseconds_after(EPERM), ::testing::ExitedWithCode(0), "");
}

TEST(FaultyPoller, AnEventfdThatIsGoneEndsTheProgramAndSaysWhy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int error : {EAGAIN, EBADF, EINVAL}) {
    const auto use = [error] {
      const Injection injection(Fault("eventfd_write", error).always());
      make_runtime(On::current_thread).block_on(wait_for_another_thread());
    };
    EXPECT_DEATH(use(), "eventfd is no longer there");
    add_row("eventfd_write", name_of_error(error), "wait for a thread", 1,
            "aborts the program: the descriptor is gone");
  }
}

/// The descriptor is another one, or none: nothing that was promised can be kept.
TEST(FaultyPoller, AnEpollThatIsGoneEndsTheProgramAndSaysWhy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int error : {EBADF, EINVAL}) {
    const auto use = [error] {
      const Injection injection(Fault("epoll_wait", error).always());
      make_runtime(On::current_thread).block_on(wait_for_another_thread());
    };
    EXPECT_DEATH(use(), "epoll descriptor is no longer there");
    add_row("epoll_wait", name_of_error(error), "an exchange", 1,
            "aborts the program: the descriptor is gone");
  }
}

}  // namespace
}  // namespace rouse::faulty
