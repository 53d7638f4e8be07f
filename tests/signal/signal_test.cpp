// Signal, ctrl_c.
#include "rouse/signal/signal.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/io/error.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;
using rouse::testing::PollHarness;
using signal::Kind;
using signal::Signal;

struct Inside {
  explicit Inside(const Runtime& rt) : here(rt.enter()) {}
  EnterGuard here;
};

class SignalTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    RuntimeBuilder builder = Runtime::builder();
    if (GetParam()) return builder.current_thread().build();
    return builder.worker_threads(2).build();
  }
  Runtime rt = make();
  std::optional<Inside> inside{std::in_place, rt};
};

INSTANTIATE_TEST_SUITE_P(Runtimes, SignalTest, ::testing::Bool(), [](const auto& runtime) {
  return runtime.param ? "CurrentThread" : "TwoWorkers";
});

void send(int number) { ASSERT_EQ(::kill(::getpid(), number), 0); }

TEST_P(SignalTest, ASignalThatCameBeforeTheRecvIsReceived) {
  Signal user1(Kind::user1());
  ::raise(SIGUSR1);
  rt.block_on(user1.recv());
}

TEST_P(SignalTest, AWaitingRecvIsWoken) {
  Signal user1(Kind::user1());
  PollHarness waiting(user1.recv());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_TRUE(waiting.kept_waker());
  send(SIGUSR1);
  rt.block_on(waiting.future());
}

TEST_P(SignalTest, EachOfManySignalsIsReceivedWhenTheyComeOneByOne) {
  Signal user1(Kind::user1());
  for (int i = 0; i < 100; ++i) {
    std::thread sender([] { ::kill(::getpid(), SIGUSR1); });
    rt.block_on(user1.recv());
    sender.join();
  }
  PollHarness another(user1.recv());
  EXPECT_TRUE(another.poll().is_pending());
}

TEST_P(SignalTest, SignalsThatCameTogetherAreOne) {
  Signal user1(Kind::user1());
  ::raise(SIGUSR1);
  ::raise(SIGUSR1);
  rt.block_on(user1.recv());
  PollHarness another(user1.recv());
  EXPECT_TRUE(another.poll().is_pending());
}

TEST_P(SignalTest, ASignalBeforeTheListenerWasMadeIsNotReceived) {
  const Signal first(Kind::user1());
  ::raise(SIGUSR1);
  Signal second(Kind::user1());
  PollHarness waiting(second.recv());
  EXPECT_TRUE(waiting.poll().is_pending());
}

TEST_P(SignalTest, AllListenersOfAKindGetItAndThoseOfOthersDoNot) {
  std::vector<Signal> listeners;
  for (int i = 0; i < 20; ++i) listeners.emplace_back(Kind::user1());
  Signal other(Kind::user2());
  send(SIGUSR1);
  for (Signal& listener : listeners) rt.block_on(listener.recv());
  PollHarness waiting(other.recv());
  EXPECT_TRUE(waiting.poll().is_pending());
  send(SIGUSR2);
  rt.block_on(waiting.future());
}

Async<void> receive(Signal signal) { co_await signal.recv(); }

TEST_P(SignalTest, ListenersInSeveralRuntimesGetIt) {
  Runtime other = Runtime::builder().worker_threads(1).build();
  inside.reset();
  std::optional<Signal> here;
  std::optional<Signal> there;
  {
    const EnterGuard in = rt.enter();
    here.emplace(Kind::user1());
  }
  {
    const EnterGuard in = other.enter();
    there.emplace(Kind::user1());
  }
  auto waiting = other.spawn(receive, std::move(*there));
  send(SIGUSR1);
  rt.block_on(here->recv());
  other.block_on(std::move(waiting));
}

TEST_P(SignalTest, ADroppedRecvLosesNothing) {
  Signal user1(Kind::user1());
  {
    PollHarness waiting(user1.recv());
    EXPECT_TRUE(waiting.poll().is_pending());
    send(SIGUSR1);
  }
  rt.block_on(user1.recv());
}

TEST_P(SignalTest, CtrlCCountsFromItsCall) {
  auto pressed = signal::ctrl_c();
  send(SIGINT);
  rt.block_on(pressed);
}

TEST_P(SignalTest, IsAStreamOfItsKind) {
  Signal user1(Kind::user1());
  send(SIGUSR1);
  EXPECT_EQ(rt.block_on(Next(user1)), Kind::user1());
}

TEST_P(SignalTest, AnyNumberMayBeReceived) {
  Signal realtime(Kind(SIGRTMIN + 3));
  send(SIGRTMIN + 3);
  rt.block_on(realtime.recv());
}

TEST_P(SignalTest, AKindIsAlsoItsNumber) {
  const Signal listener(SIGUSR1);
  EXPECT_EQ(listener.kind(), Kind::user1());
}

TEST_P(SignalTest, WhatCantBeCaughtIsRefused) {
  for (const int number : {SIGKILL, SIGSTOP, SIGSEGV, SIGILL, SIGFPE, SIGBUS, 0, -1, 65, 1000}) {
    try {
      const Signal refused{Kind(number)};
      ADD_FAILURE() << number;
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::invalid_argument) << number;
    }
  }
}

TEST_P(SignalTest, EndsWithItsRuntime) {
  Signal user1(Kind::user1());
  inside.reset();
  ASSERT_TRUE(rt.shutdown_timeout(std::chrono::hours(1)));
  PollHarness waiting(user1.recv().result());
  auto polled = waiting.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
  PollHarness next{Next(user1)};
  EXPECT_EQ(next.poll().value(), std::nullopt);
}

TEST_P(SignalTest, WhatAForkedChildIsSentIsNotReceivedHere) {
  Signal user1(Kind::user1());
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGUSR1);  // its handler writes to the eventfd that the two share
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  PollHarness waiting(user1.recv());
  EXPECT_TRUE(waiting.poll().is_pending());
  send(SIGUSR1);
  rt.block_on(waiting.future());
}

std::atomic<int> earlier_calls{0};

TEST_P(SignalTest, AHandlerThatWasThereBeforeIsStillCalledAndErrnoIsKept) {
  static int next_unused = SIGRTMIN + 4;  // what listens once listens for ever
  if (next_unused > SIGRTMAX) GTEST_SKIP() << "repeated too often";
  const int number = next_unused++;
  struct sigaction earlier{};
  earlier.sa_handler = [](int) {
    earlier_calls.fetch_add(1);
    errno = EDOM;
  };
  ASSERT_EQ(::sigaction(number, &earlier, nullptr), 0);
  Signal listener{Kind(number)};
  earlier_calls = 0;
  errno = 0;
  ::raise(number);
  EXPECT_EQ(errno, 0);
  rt.block_on(listener.recv());
  EXPECT_EQ(earlier_calls.load(), 1);
}

TEST_P(SignalTest, SystemCallsAreNotInterrupted) {
  const Signal user1(Kind::user1());
  struct sigaction installed{};
  ASSERT_EQ(::sigaction(SIGUSR1, nullptr, &installed), 0);
  EXPECT_NE(installed.sa_flags & SA_RESTART, 0);
}

}  // namespace
