// sight::start: a dump that a signal asks for, also while no worker can answer.
#include "rouse/sight/start.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/metrics.hpp"

#include "sight/prometheus.hpp"
#include "support/sanitizer.hpp"

namespace rouse::sight {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StartPipe {
 public:
  StartPipe() { EXPECT_EQ(::pipe(ends_), 0); }
  StartPipe(const StartPipe&) = delete;
  StartPipe& operator=(const StartPipe&) = delete;
  ~StartPipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int to() const { return ends_[1]; }
  /// From now on a write blocks, until somebody reads.
  void fill() const {
    const int flags = ::fcntl(to(), F_GETFL);
    ::fcntl(to(), F_SETFL, flags | O_NONBLOCK);
    constexpr char bytes[4096] = {};
    while (::write(to(), bytes, sizeof bytes) > 0) {
    }
    ::fcntl(to(), F_SETFL, flags);
  }
  /// Reads until it has read that.
  std::string read_until(const std::string& end) const {
    std::string text;
    while (text.find(end) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::read(ends_[0], bytes, sizeof bytes);
      if (count <= 0) break;
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int ends_[2] = {};
};

Async<void> spin_until(std::atomic<int>& begun, std::atomic<bool>& is_over) {
  ++begun;
  while (!is_over.load()) {
    if (rouse::test::sanitized) ::usleep(1);  // a thread sanitizer delivers signals in calls only
  }
  co_return;
}

TEST(SightStart, ASignalAsksForADumpWhileAllWorkersSpin) {
  const StartPipe pipe;
  const Sight sight = start(Options().dump_on_signal(SIGUSR2, pipe.to()));
  Runtime rt = Runtime::builder().worker_threads(2).build();
  std::atomic<int> begun{0};
  std::atomic<bool> is_over{false};
  auto first = rt.spawn(spin_until, std::ref(begun), std::ref(is_over));
  auto second = rt.spawn(spin_until, std::ref(begun), std::ref(is_over));
  while (begun != 2) std::this_thread::yield();
  ::raise(SIGUSR2);
  const std::string text = pipe.read_until("task " + std::to_string(second.id()) + "  running");
  EXPECT_THAT(text, HasSubstr("2 tasks"));
  EXPECT_THAT(text, HasSubstr("task " + std::to_string(first.id()) + "  running"));
  is_over = true;
  rt.block_on(std::move(first));
  rt.block_on(std::move(second));
}

TEST(SightStart, EachSignalIsAnswered) {
  const StartPipe pipe;
  Sight sight = start(Options().dump_on_signal(SIGUSR2, pipe.to(), Format::json));
  for (int i = 0; i < 3; ++i) {
    ::raise(SIGUSR2);
    EXPECT_THAT(pipe.read_until("]}\n"), HasSubstr("\"format\":1"));
  }
  sight = start(Options());  // ends the one before
}

/// The pipe blocks, and its reader may be what is wrong.
TEST(SightStart, ADumpThatNobodyReadsDoesNotKeepTheThread) {
  const StartPipe full;
  full.fill();
  const StartPipe pipe;
  Sight sight =
      start(Options().dump_on_signal(SIGUSR1, full.to()).dump_on_signal(SIGUSR2, pipe.to()));
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  EXPECT_THAT(pipe.read_until("\n"), HasSubstr("tasks"));
  sight = Sight();  // it ends, too
}

/// As in a program whose polls are slow because nobody reads what it logs.
TEST(SightStart, ASlowPollThatNobodyReadsOfDoesNotKeepTheThread) {
  const StartPipe pipe;
  const StartPipe full;
  full.fill();
  const auto told = [] { return test::Prometheus(metrics_text()).sum("rouse_slow_polls_total"); };
  const double told_before = told();
  const int standard_error = ::dup(STDERR_FILENO);
  ASSERT_EQ(::dup2(full.to(), STDERR_FILENO), STDERR_FILENO);
  Sight sight = start(Options().slow_poll(1ms).dump_on_signal(SIGUSR2, pipe.to()));
  Runtime rt = Runtime::builder().worker_threads(1).build();
  std::atomic<int> begun{0};
  std::atomic<bool> is_over{false};
  auto task = rt.spawn(spin_until, std::ref(begun), std::ref(is_over));
  while (told() == told_before) std::this_thread::yield();
  ::raise(SIGUSR2);
  EXPECT_THAT(pipe.read_until("\n"), HasSubstr("1 task"));
  is_over = true;
  rt.block_on(std::move(task));
  sight = Sight();
  ::dup2(standard_error, STDERR_FILENO);
  ::close(standard_error);
}

/// Blocks a signal in this thread, and those that it starts, while it lives.
class Blocked {
 public:
  explicit Blocked(int number) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// As in a program that waits for its signals in one thread, and blocks them in all.
TEST(SightStart, ASignalThatAllOtherThreadsBlockAsksForADump) {
  const Blocked blocked(SIGUSR2);
  const StartPipe pipe;
  const Sight sight = start(Options().dump_on_signal(SIGUSR2, pipe.to()));
  ::kill(::getpid(), SIGUSR2);
  EXPECT_THAT(pipe.read_until("\n"), HasSubstr("tasks"));
}

/// It would be lost for who waits for it.
TEST(SightStart, OtherSignalsAreNotForItsThread) {
  const StartPipe pipe;
  const Sight sight = start(Options().dump_on_signal(SIGUSR2, pipe.to()));
  ::raise(SIGUSR2);
  EXPECT_THAT(pipe.read_until("\n"), HasSubstr("tasks"));  // it runs
  const Blocked blocked(SIGWINCH);
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGWINCH);
  constexpr timespec at_once{.tv_sec = 0, .tv_nsec = 0};
  for (int i = 0; i < 10; ++i) {
    ::kill(::getpid(), SIGWINCH);
    EXPECT_EQ(::sigtimedwait(&waited, nullptr, &at_once), SIGWINCH);
  }
}

TEST(SightStart, ASignalThatCantBeCaughtIsRefused) {
  EXPECT_THROW((void)start(Options().dump_on_signal(SIGKILL)), std::system_error);
}

/// Each dump of a long poll would ask for another one.
TEST(SightStart, TheSignalThatThreadsAreAskedByIsRefused) {
  EXPECT_THROW((void)start(Options().dump_on_signal(SIGRTMIN + 7)), std::system_error);
  EXPECT_THROW((void)start(Options().dump_on_signal(SIGUSR2).sample_signal(SIGUSR2)),
               std::system_error);
}

TEST(SightStart, AForkedChildHasNeitherTheThreadNorTheTasksOfItsParent) {
  const StartPipe pipe;
  std::optional<Sight> sight = start(Options());
  const Runtime rt = Runtime::builder().worker_threads(1).build();
  rt.spawn(pending_forever<void>()).detach();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sight.reset();
    LocalExecutor of_child;
    of_child.spawn(pending_forever<void>()).detach();
    ::_exit(dump_to(pipe.to(), Format::text) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const std::string seen = pipe.read_until("\n");
  EXPECT_THAT(seen, StartsWith("1 task"));
  EXPECT_THAT(seen, Not(HasSubstr("pool")));
  EXPECT_THAT(dump().text(), ContainsRegex("pool [0-9]+: 1 task"));
}

}  // namespace
}  // namespace rouse::sight
