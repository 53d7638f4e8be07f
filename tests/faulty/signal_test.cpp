// Calls of signals and of the standard streams.
#include "rouse/signal/signal.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/io/stdio.hpp"
#include "rouse/time/timeout.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

Async<void> receive(int number) {
  signal::Signal signal{signal::Kind(number)};
  ::raise(number);
  co_await signal.recv();
}

/// The handler of a signal is installed once: a signal of its own for each runtime.
void receive_a_new_one(Runtime& rt) {
  static int number = SIGRTMIN;
  const std::error_code code = outcome_of([&] { rt.block_on(receive(number)); });
  if (code) throw std::system_error(code);
  ++number;
}

Async<void> receive_an_old_one() { co_await receive(SIGUSR1); }

/// The event that all signals share is made once in a process.
void expect_no_event(int error) {
  Runtime rt = make_runtime(On::current_thread);
  const auto before = open_descriptors();
  {
    const Injection injection(Fault("eventfd", error));
    EXPECT_EQ(outcome_of([&] { rt.block_on(receive(SIGUSR2)); }).value(), error);
    EXPECT_EQ(injection.hits(), 1);
  }
  EXPECT_THAT(left_open(before), ::testing::IsEmpty());
  rt.block_on(receive(SIGUSR2));
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(FaultySignal, AHandlerThatCannotBeInstalledIsReported) {
  make_runtime(On::current_thread).block_on(receive_an_old_one());
  Site("sigaction", "the first Signal of a kind", receive_a_new_one).try_all();
}

TEST(FaultySignal, ASignalThatCannotBeWatchedIsReported) {
  make_runtime(On::current_thread).block_on(receive_an_old_one());
  Site("fcntl(F_DUPFD_CLOEXEC)", "a Signal", receive_an_old_one).try_all();
  Site("epoll_ctl(ADD)", "a Signal", receive_an_old_one).except({EPERM}).try_all();
}

TEST(FaultySignal, AHandlerThatIsInterruptedTellsAllTheSame) {
  make_runtime(On::current_thread).block_on(receive_an_old_one());
  Site("write", "a Signal", receive_an_old_one)
      .retried({EINTR})
      .except({EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE})
      .try_all();
}

TEST(FaultySignal, WithoutAnEventThereIsNoSignalAndTheNextTryWorks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int error : {EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM}) {
    EXPECT_EXIT(expect_no_event(error), ::testing::ExitedWithCode(0), "");
    add_row("eventfd", name_of_error(error), "the first Signal of all", 1, "reported");
  }
}

// --- Standard streams, over whatever they may be. ---

struct Ends {
  Ends(int reading, int writing) noexcept : read(reading), write(writing) {}
  io::OwnedFd read;
  io::OwnedFd write;
};

Ends make_pipe() {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  return {ends[0], ends[1]};
}
Ends make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
  return {ends[0], ends[1]};
}
Ends make_file() {
  std::string name = "/tmp/rouse-faulty-XXXXXX";
  const int file = ::mkstemp(name.data());
  ::unlink(name.c_str());
  const std::string same = "/proc/self/fd/" + std::to_string(file);
  return {::openat(AT_FDCWD, same.c_str(), O_RDONLY | O_CLOEXEC), file};
}

Async<void> pass_through(Ends ends) {
  io::Stdout out(ends.write.get());
  io::Stdin in(ends.read.get());
  co_await out.write_all("hello");
  std::array<char, 5> buf;
  co_await in.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "hello");
}
Async<void> through_a_pipe() { co_await pass_through(make_pipe()); }
Async<void> through_a_socket() { co_await pass_through(make_socket_pair()); }
/// One that belongs to another user: it can't be opened anew, so each call looks whether it would
/// block.
Async<void> through_a_foreign_pipe() {
  const Injection injection(Fault("open", EACCES).always());
  co_await pass_through(make_pipe());
}
Async<void> through_a_file() { co_await pass_through(make_file()); }

TEST(FaultyStdio, AStreamThatCannotBeHadReportsItWithEachCall) {
  Site("fcntl(F_GETFL)", "a pipe as standard stream", through_a_pipe).try_all();
  Site("fcntl(F_DUPFD_CLOEXEC)", "a socket as standard stream", through_a_socket).try_all();
  Site("fcntl(F_DUPFD_CLOEXEC)", "a file as standard stream", through_a_file).try_all();
  Site("fcntl(F_GETFL)", "a file as standard stream", through_a_file).try_all();
  Site("epoll_ctl(ADD)", "a pipe as standard stream", through_a_pipe).except({EPERM}).try_all();
  Site("fstat", "a socket as standard stream", through_a_socket).try_all();
}

TEST(FaultyStdio, APipeThatCannotBeOpenedAnewIsUsedAsItIs) {
  Site("open", "a pipe as standard stream", through_a_pipe)
      .retried({EINTR})
      .ignored("used as it is: each call checks whether it would block")
      .try_all();
}

/// What is written to `side` stays there until somebody reads `screen`.
struct Terminal {
  Terminal() : screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    std::array<char, 64> name{};
    if (!screen || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0 ||
        ::ptsname_r(screen.get(), name.data(), name.size()) != 0) {
      throw std::runtime_error("posix_openpt");
    }
    side = io::OwnedFd(::openat(AT_FDCWD, name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  io::OwnedFd screen;
  io::OwnedFd side;
};

/// Tabs and line ends, which become more on their way.
TEST(FaultyStdio, AForeignTerminalThatNobodyReadsDoesNotBlockTheThread) {
  const Watchdog watchdog("a foreign terminal");
  const Terminal terminal;
  Runtime rt = make_runtime(On::current_thread);
  const Injection injection(Fault("open", EACCES).always());
  rt.block_on([](int side) -> Async<void> {
    std::string text;
    while (text.size() < (1U << 20U)) text += "\t\t\t\n";
    io::Stdout out(side);
    const auto written =
        co_await timeout(std::chrono::milliseconds(100), out.write_all(text)).result();
    EXPECT_TRUE(!written && written.error() == std::errc::timed_out);
  }(terminal.side.get()));
  EXPECT_GT(injection.hits(), 0);
}

TEST(FaultyStdio, ReadingAndWritingReportErrorsAndWaitWhereTheyAreToldTo) {
  for (const char* call : {"read", "write"}) {
    Site(call, "a pipe as standard stream", through_a_pipe)
        .retried({EINTR})
        .waits({EAGAIN})
        .try_all();
    Site(call, "a file as standard stream", through_a_file).retried({EINTR}).try_all();
    Site(call, "a pipe as standard stream", through_a_pipe).try_short();
    Site(call, "a file as standard stream", through_a_file).try_short();
  }
  for (const char* call : {"recv", "send"}) {
    Site(call, "a socket as standard stream", through_a_socket)
        .retried({EINTR})
        .waits({EAGAIN})
        .try_all();
    Site(call, "a socket as standard stream", through_a_socket).try_short();
  }
  Site("poll", "a foreign pipe as standard stream", through_a_foreign_pipe)
      .retried({EINTR})
      .try_all();
}

/// A real broken pipe, whose signal must be taken back whatever the taking says.
Async<void> write_to_nobody() {
  Ends ends = make_pipe();
  io::Stdout out(ends.write.get());
  ends.read = io::OwnedFd();
  co_await out.write_all("hello");
}

TEST(FaultyStdio, TakingTheSignalOfABrokenPipeBackIsDoneAgainIfInterrupted) {
  Runtime rt = make_runtime(On::current_thread);
  const auto run = [&](int error) {
    const Injection injection(Fault("sigtimedwait", error));
    EXPECT_EQ(outcome_of([&] { rt.block_on(write_to_nobody()); }), std::errc::broken_pipe);
    EXPECT_EQ(injection.hits(), 1);
  };
  run(EINTR);
  add_row("sigtimedwait", "EINTR", "write to a broken pipe", 1, "called again");
  // The others mean that there was none to take; here there is one, so it must be ignored.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  for (const int error : {EAGAIN, EINVAL}) {
    run(error);
    add_row("sigtimedwait", name_of_error(error), "write to a broken pipe", 1,
            "ignored: no signal was pending");
  }
  std::signal(SIGPIPE, before);
  rt.block_on(echo());
}

}  // namespace
}  // namespace rouse::faulty
