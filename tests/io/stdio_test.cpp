// Stdin, Stdout: descriptors that others share.
#include "rouse/io/stdio.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace {

using namespace rouse;
using io::OwnedFd;
using rouse::testing::PollHarness;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read = OwnedFd(ends[0]);
    write = OwnedFd(ends[1]);
  }
  OwnedFd read;
  OwnedFd write;
};

struct SocketPair {
  SocketPair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    left = OwnedFd(ends[0]);
    right = OwnedFd(ends[1]);
  }
  OwnedFd left;
  OwnedFd right;
};

/// A terminal, without echo and translation; what is written to `screen` is typed.
struct Terminal {
  Terminal() {
    screen = OwnedFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!screen || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0) std::abort();
    std::array<char, 64> name{};
    if (::ptsname_r(screen.get(), name.data(), name.size()) != 0) std::abort();
    side = OwnedFd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios settings{};
    if (!side || ::tcgetattr(side.get(), &settings) != 0) std::abort();
    settings.c_oflag = 0;
    settings.c_lflag = ICANON;
    if (::tcsetattr(side.get(), TCSANOW, &settings) != 0) std::abort();
  }
  OwnedFd screen;
  OwnedFd side;
};

OwnedFd temporary_file() {
  std::string name = ::testing::TempDir() + "rouse_stdio_XXXXXX";
  OwnedFd fd(::mkstemp(name.data()));
  ::unlink(name.c_str());
  return fd;
}

void put(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

Async<std::string> read_some(io::Stdin& in) {
  std::array<char, 256> buf;
  const std::size_t n = co_await in.read(buf);
  co_return std::string(buf.data(), n);
}

class StdioTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    RuntimeBuilder builder = Runtime::builder();
    if (GetParam()) return builder.current_thread().build();
    return builder.worker_threads(2).build();
  }
  Runtime rt = make();
  Enter inside = rt.enter();
};

INSTANTIATE_TEST_SUITE_P(Runtimes, StdioTest, ::testing::Bool(), [](const auto& runtime) {
  return runtime.param ? "CurrentThread" : "TwoWorkers";
});

TEST_P(StdioTest, WhatAPipeHoldsIsReadAndThenItsEnd) {
  Pipe pipe;
  io::Stdin in(pipe.read.get());
  put(pipe.write.get(), "hello");
  EXPECT_EQ(rt.block_on(read_some(in)), "hello");
  pipe.write.close();
  EXPECT_EQ(rt.block_on(read_some(in)), "");
}

TEST_P(StdioTest, AReaderOfAnEmptyPipeWaitsWithoutBlockingItsThread) {
  Pipe pipe;
  io::Stdin in(pipe.read.get());
  std::array<char, 16> buf{};
  PollHarness reading(in.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  EXPECT_TRUE(reading.kept_waker());
  put(pipe.write.get(), "x");
  EXPECT_EQ(rt.block_on(reading.future()), 1U);
}

TEST_P(StdioTest, LinesThatComeByteByByteAreWhole) {
  Pipe pipe;
  io::Stdin in(pipe.read.get());
  const std::string text = "first\nsecond\n\nfourth, without an end";
  std::thread typist([&] {
    for (const char c : text) put(pipe.write.get(), std::string(1, c));
    pipe.write.close();
  });
  EXPECT_EQ(rt.block_on(in.read_to_string()), text);
  typist.join();
}

TEST_P(StdioTest, NonBlockingIsNeverSetOnWhatOthersShare) {
  Pipe pipe;
  Terminal terminal;
  SocketPair sockets;
  for (const int fd : {pipe.read.get(), terminal.side.get(), sockets.left.get()}) {
    const int before = ::fcntl(fd, F_GETFL);
    io::Stdin in(fd);
    std::array<char, 16> buf{};
    PollHarness reading(in.read(buf));
    EXPECT_TRUE(reading.poll().is_pending());
    EXPECT_EQ(::fcntl(fd, F_GETFL), before);
    EXPECT_EQ(before & O_NONBLOCK, 0);
  }
}

TEST_P(StdioTest, AWriterOfAFullPipeWaitsAndLosesNothing) {
  Pipe pipe;
  io::Stdout out(pipe.write.get());
  io::Stdin in(pipe.read.get());
  std::string text(1 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  PollHarness writing(out.write_all(text));
  EXPECT_TRUE(writing.poll_until_ready(1000).is_pending());
  std::string all;
  std::thread reader([&] {
    std::array<char, 4096> buf;
    while (all.size() < text.size()) {
      const ssize_t n = ::read(pipe.read.get(), buf.data(), buf.size());
      if (n <= 0) break;
      all.append(buf.data(), static_cast<std::size_t>(n));
    }
  });
  rt.block_on(writing.future());
  reader.join();
  EXPECT_TRUE(all == text);
}

TEST_P(StdioTest, APipeThatNobodyReadsIsAnErrorAndNoSignal) {
  ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
  Pipe pipe;
  io::Stdout out(pipe.write.get());
  pipe.read.close();
  const Result<void> written = rt.block_on(out.write_all("x").result());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error(), std::errc::broken_pipe);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(Stdio, ASigpipeThatWasPendingStaysPending) {
  Runtime rt = Runtime::builder().current_thread().build();
  const Enter inside = rt.enter();
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
  ::raise(SIGPIPE);
  Pipe pipe;
  io::Stdout out(pipe.write.get());
  pipe.read.close();
  EXPECT_FALSE(rt.block_on(out.write_all("x").result()));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  int taken = 0;
  sigwait(&sigpipe, &taken);
  pthread_sigmask(SIG_UNBLOCK, &sigpipe, nullptr);
}

TEST_P(StdioTest, ATerminalGivesALineWhenItIsTyped) {
  Terminal terminal;
  io::Stdin in(terminal.side.get());
  std::array<char, 64> buf{};
  PollHarness reading(in.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  put(terminal.screen.get(), "half a ");
  EXPECT_TRUE(reading.poll().is_pending());
  put(terminal.screen.get(), "line\n");
  EXPECT_EQ(rt.block_on(reading.future()), 12U);
  EXPECT_EQ(std::string(buf.data(), 12), "half a line\n");
}

TEST_P(StdioTest, ATerminalShowsWhatIsWritten) {
  Terminal terminal;
  io::Stdout out(terminal.side.get());
  rt.block_on(out.write_all("shown\n"));
  std::array<char, 64> buf{};
  ASSERT_EQ(::read(terminal.screen.get(), buf.data(), buf.size()), 6);
  EXPECT_EQ(std::string(buf.data(), 6), "shown\n");
}

TEST_P(StdioTest, ASocketIsReadAndWrittenAndItsEndIsAnError) {
  SocketPair sockets;
  io::Stdin in(sockets.left.get());
  io::Stdout out(sockets.left.get());
  put(sockets.right.get(), "question");
  EXPECT_EQ(rt.block_on(read_some(in)), "question");
  rt.block_on(out.write_all("answer"));
  std::array<char, 16> buf{};
  EXPECT_EQ(::read(sockets.right.get(), buf.data(), buf.size()), 6);
  sockets.right.close();
  EXPECT_EQ(rt.block_on(read_some(in)), "");
  EXPECT_EQ(rt.block_on(out.write_all("x").result()).error(), std::errc::broken_pipe);
}

TEST_P(StdioTest, ARegularFileIsReadAndWrittenDirectly) {
  const OwnedFd file = temporary_file();
  ASSERT_TRUE(file);
  io::Stdout out(file.get());
  rt.block_on(out.write_all("in a file"));
  rt.block_on(out.shutdown());
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  io::Stdin in(file.get());
  EXPECT_EQ(rt.block_on(in.read_to_string()), "in a file");
}

TEST_P(StdioTest, TheNullDeviceIsEmptyAndTakesAll) {
  const OwnedFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  io::Stdin in(null.get());
  io::Stdout out(null.get());
  EXPECT_EQ(rt.block_on(in.read_to_string()), "");
  rt.block_on(out.write_all("gone"));
}

TEST_P(StdioTest, ADescriptorThatIsNotOpenIsAnError) {
  Pipe pipe;
  const int number = pipe.read.get();
  pipe.read.close();
  io::Stdin in(number);
  io::Stdout out(number);
  std::array<char, 16> buf{};
  EXPECT_EQ(rt.block_on(in.read(buf).result()).error(), std::errc::bad_file_descriptor);
  EXPECT_EQ(rt.block_on(out.write("x").result()).error(), std::errc::bad_file_descriptor);
}

TEST_P(StdioTest, ADescriptorThatIsOnlyForReadingCantBeWritten) {
  Pipe pipe;
  io::Stdout out(pipe.read.get());
  put(pipe.write.get(), "x");
  EXPECT_EQ(rt.block_on(out.write("x").result()).error(), std::errc::bad_file_descriptor);
}

TEST_P(StdioTest, TheStreamsOfTheProcessAreTheDescriptors012) {
  Pipe pipe;
  const OwnedFd before(::fcntl(2, F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(::dup2(pipe.write.get(), 2), 2);
  {
    io::Stdout err = io::stderr_();
    rt.block_on(err.write_all("to stderr"));
  }
  ASSERT_EQ(::dup2(before.get(), 2), 2);
  io::Stdin in(pipe.read.get());
  EXPECT_EQ(rt.block_on(read_some(in)), "to stderr");
}

}  // namespace
