// Stdin, Stdout: descriptors that others share.
#include "rouse/io/stdio.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <semaphore>
#include <string>
#include <sys/socket.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/poll_fn.hpp"
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

std::string read_all(int fd, std::size_t size) {
  std::string all;
  std::array<char, 4096> buf;
  while (all.size() < size) {
    const ssize_t n = ::read(fd, buf.data(), buf.size());
    if (n <= 0) break;
    all.append(buf.data(), static_cast<std::size_t>(n));
  }
  return all;
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
  EnterGuard inside = rt.enter();
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
  std::thread reader([&] { all = read_all(pipe.read.get(), text.size()); });
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
  const EnterGuard inside = rt.enter();
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

/// Reads when a thread has been blocked for long, so that the test can end.
class Rescue {
 public:
  explicit Rescue(int fd) : thread_([this, fd] { read_if_late(fd); }) {}
  ~Rescue() {
    over_.release();
    thread_.join();
  }
  [[nodiscard]] bool was_needed() const { return was_needed_; }

 private:
  void read_if_late(int fd) {
    if (over_.try_acquire_for(std::chrono::seconds(10))) return;
    was_needed_ = true;
    while (!over_.try_acquire()) {
      pollfd look{.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&look, 1, 10) == 1) read_all(fd, 1);
    }
  }
  std::binary_semaphore over_{0};
  std::atomic<bool> was_needed_{false};
  std::thread thread_;
};

TEST_P(StdioTest, AWriterOfATerminalThatNobodyReadsWaitsWithoutBlockingItsThread) {
  const std::string text(100'000, 'x');                         // more than a terminal holds
  for (std::size_t before = 0; before < 4096; before += 500) {  // less than it holds
    Terminal terminal;
    put(terminal.side.get(), std::string(before, '-'));
    io::Stdout out(terminal.side.get());
    PollHarness writing(out.write_all(text));
    {
      const Rescue rescue(terminal.screen.get());
      EXPECT_TRUE(writing.poll_until_ready(1000).is_pending());
      ASSERT_FALSE(rescue.was_needed());
    }
    std::string all;
    std::thread reader([&] { all = read_all(terminal.screen.get(), before + text.size()); });
    rt.block_on(writing.future());
    reader.join();
    EXPECT_TRUE(all == std::string(before, '-') + text);
  }
}

/// Where one of them finds room the other one finds none.
TEST(Stdio, TwoWritersOfOnePipeDoNotBlockTheirThreads) {
  constexpr std::size_t page = 4096;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const EnterGuard inside = rt.enter();
  const std::string text(page, 'x');
  for (int round = 0; round < 1000; ++round) {
    const Pipe pipe;
    const int capacity = ::fcntl(pipe.write.get(), F_SETPIPE_SZ, 2 * page);
    const std::size_t pages = static_cast<std::size_t>(capacity) / page;
    for (std::size_t i = 1; i < pages; ++i) put(pipe.write.get(), text);
    std::atomic<int> arrived{0};
    std::atomic<int> tried{0};
    const auto write = [&]() -> Async<void> {
      io::Stdout out(pipe.write.get());
      auto writing = out.write_all(text);
      bool is_first = true;
      auto step = [&](Context& cx) -> Poll<> {
        if (is_first) ++arrived;
        // They look at the same moment, if each has a worker for itself.
        const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (arrived != 2 && std::chrono::steady_clock::now() < soon) {
        }
        const auto polled = writing.poll_result(cx);
        if (std::exchange(is_first, false)) ++tried;
        return polled.is_pending() ? Poll<>(pending) : Poll<>::ready();
      };
      co_await poll_fn(step);
    };
    auto one = rt.spawn(borrowed(write()));
    auto other = rt.spawn(borrowed(write()));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (tried != 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    const bool none_is_blocked = tried == 2;
    std::thread reader([&] { read_all(pipe.read.get(), (pages + 1) * page); });
    rt.block_on(std::move(one));
    rt.block_on(std::move(other));
    reader.join();
    ASSERT_TRUE(none_is_blocked) << "a worker was blocked, in round " << round;
  }
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
