// AsyncFd with each kind of descriptor that can be waited for, and those that cannot.
#include "rouse/io/async_fd.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/error.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::io {
namespace {

using testing::PollHarness;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe2");
    reader = OwnedFd(ends[0]);
    writer = OwnedFd(ends[1]);
  }
  void put(std::string_view text) const {
    ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  OwnedFd reader;
  OwnedFd writer;
};

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }
OwnedFd event_fd() { return OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
void signal_event(int fd) { ASSERT_EQ(::eventfd_write(fd, 1), 0); }

/// An EnterGuard that can be put into an optional.
struct Inside {
  explicit Inside(const Runtime& rt) : here(rt.enter()) {}
  EnterGuard here;
};

class AsyncFdTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    if (GetParam()) return Runtime::builder().current_thread().build();
    return Runtime::builder().worker_threads(2).build();
  }
  /// Lets the reactor tell what it has found: a descriptor that is ready from the start is reported
  /// after all that became so before it.
  void let_events_be_told() {
    const OwnedFd fd = event_fd();
    const AsyncFd mark(fd.get(), Interest::readable);
    mark.clear_blocked(mark.now(), Interest::readable);
    signal_event(fd.get());
    rt.block_on(mark.readable());
  }
  /// What `readable` says, without waiting.
  bool is_readable(const AsyncFd& fd) {
    PollHarness poll(fd.readable());
    return poll.poll().is_ready();
  }

  Runtime rt = make();
  std::optional<Inside> inside{std::in_place, rt};
};

INSTANTIATE_TEST_SUITE_P(Runtimes, AsyncFdTest, ::testing::Bool(), [](const auto& runtime) {
  return runtime.param ? "CurrentThread" : "TwoWorkers";
});

/// One byte, or -1 with errno.
auto read_byte(int fd, char& byte) {
  return [fd, &byte] { return ::read(fd, &byte, 1); };
}

// --- Whose it is. ---

TEST_P(AsyncFdTest, ABorrowedDescriptorStaysOpenAndAnOwnedOneIsClosed) {
  const Pipe pipe;
  const int borrowed = pipe.reader.get();
  {
    const AsyncFd watched(borrowed, Interest::readable);
  }
  EXPECT_TRUE(is_open(borrowed));
  OwnedFd event = event_fd();
  const int owned = event.get();
  {
    const AsyncFd watched(std::move(event));
  }
  EXPECT_FALSE(is_open(owned));
}

TEST_P(AsyncFdTest, GivenBackADescriptorIsNoLongerWatchedAndMayBeWatchedAnew) {
  OwnedFd event = event_fd();
  const int number = event.get();
  AsyncFd watched(std::move(event));
  OwnedFd back = std::move(watched).into_fd();
  EXPECT_EQ(back.get(), number);
  EXPECT_TRUE(AsyncFd::own(std::move(back)));
}

TEST_P(AsyncFdTest, AssigningClosesWhatWasOwnedBefore) {
  OwnedFd one = event_fd();
  OwnedFd other = event_fd();
  const int first = one.get();
  const int second = other.get();
  AsyncFd watched(std::move(one));
  watched = AsyncFd(std::move(other));
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second));
  signal_event(second);
  rt.block_on(watched.readable());
}

// --- What can't be watched. ---

TEST_P(AsyncFdTest, AFileOrTheNullDeviceCantBeWaitedForAndTheErrorSaysWhatToUse) {
  for (const char* path : {"/proc/self/exe", "/dev/null"}) {
    const OwnedFd fd(::open(path, O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd);
    const auto made = AsyncFd::borrow(fd.get());
    ASSERT_FALSE(made) << path;
    EXPECT_EQ(made.error(), Error::not_pollable);
    EXPECT_NE(made.error().message().find("rouse::fs::File"), std::string::npos);
    EXPECT_THROW(AsyncFd thrown(fd.get()), std::system_error);
  }
}

TEST_P(AsyncFdTest, ADescriptorThatIsClosedIsAnError) {
  int number = -1;
  {
    const OwnedFd closed = event_fd();
    number = closed.get();
  }
  const auto made = AsyncFd::borrow(number);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), std::errc::bad_file_descriptor);
  EXPECT_EQ(AsyncFd::own(OwnedFd()).error(), std::errc::bad_file_descriptor);
}

TEST_P(AsyncFdTest, ADescriptorCanBeWatchedOnceAtATimeAndACopyOfItBesides) {
  const OwnedFd fd = event_fd();
  const OwnedFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  const AsyncFd first(fd.get());
  const auto second = AsyncFd::borrow(fd.get());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), std::errc::file_exists);
  const AsyncFd of_copy(copy.get());
  first.clear_blocked(first.now(), Interest::readable);
  of_copy.clear_blocked(of_copy.now(), Interest::readable);
  signal_event(fd.get());
  rt.block_on(first.readable());
  rt.block_on(of_copy.readable());
}

// --- Waiting. ---

TEST_P(AsyncFdTest, AnEventfdIsReadableWhenItIsSignalled) {
  const OwnedFd fd = event_fd();
  const AsyncFd watched(fd.get(), Interest::readable);
  PollHarness waits(watched.async_io(Interest::readable, [&] {
    std::uint64_t count = 0;
    return ::read(fd.get(), &count, sizeof count);
  }));
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_TRUE(waits.kept_waker());
  signal_event(fd.get());
  let_events_be_told();
  ASSERT_TRUE(waits.is_woken());
  auto polled = waits.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value(), sizeof(std::uint64_t));
}

TEST_P(AsyncFdTest, ATimerfdIsReadableWhenItsTimeHasCome) {
  const OwnedFd fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const AsyncFd watched(fd.get(), Interest::readable);
  itimerspec in_a_moment{};
  in_a_moment.it_value.tv_nsec = 2'000'000;
  std::uint64_t times = 0;
  const auto take = [&] { return ::read(fd.get(), &times, sizeof times); };
  EXPECT_FALSE(watched.try_io(Interest::readable, take));
  ASSERT_EQ(::timerfd_settime(fd.get(), 0, &in_a_moment, nullptr), 0);
  rt.block_on(watched.async_io(Interest::readable, take));
  EXPECT_EQ(times, 1U);
}

TEST_P(AsyncFdTest, APipeIsReadByteByByteAndItsEndIsSeen) {
  Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  char byte = 0;
  for (const char* text : {"a", "b", "c"}) {
    PollHarness waits(reader.async_io(Interest::readable, read_byte(reader.fd(), byte)));
    ASSERT_TRUE(waits.poll().is_pending());
    pipe.put(text);
    let_events_be_told();
    ASSERT_TRUE(waits.poll().is_ready());
    EXPECT_EQ(byte, *text);
  }
  pipe.writer.close();
  let_events_be_told();
  EXPECT_EQ(rt.block_on(reader.async_io(Interest::readable, read_byte(reader.fd(), byte))), 0U);
  EXPECT_TRUE(rt.block_on(reader.readable()).ready().is_read_closed());
}

TEST_P(AsyncFdTest, ASocketWhosePeerHasShutDownIsReadClosedWhileBytesAreLeft) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  const OwnedFd own(ends[0]);
  const OwnedFd peer(ends[1]);
  const AsyncFd socket(own.get(), Interest::readable);
  let_events_be_told();
  EXPECT_FALSE(socket.now().is_read_closed());
  ASSERT_EQ(::write(peer.get(), "abc", 3), 3);
  ASSERT_EQ(::shutdown(peer.get(), SHUT_WR), 0);
  let_events_be_told();
  EXPECT_TRUE(socket.now().is_read_closed());
  EXPECT_FALSE(socket.now().is_write_closed()) << "it may still answer";
}

TEST_P(AsyncFdTest, AWriterOfAFullPipeWaitsUntilThereIsRoomAndSeesThatTheReaderHasGone) {
  Pipe pipe;
  const AsyncFd writer(pipe.writer.get(), Interest::writable);
  std::vector<char> page(4096, 'x');
  const auto fill = [&] { return ::write(writer.fd(), page.data(), page.size()); };
  let_events_be_told();  // that there was room at first
  while (writer.try_io(Interest::writable, fill)) {
  }
  PollHarness waits(writer.writable());
  ASSERT_TRUE(waits.poll().is_pending());
  while (::read(pipe.reader.get(), page.data(), page.size()) > 0) {
  }
  let_events_be_told();
  EXPECT_TRUE(waits.is_woken());
  EXPECT_TRUE(waits.poll().is_ready());
  while (writer.try_io(Interest::writable, fill)) {
  }
  pipe.reader.close();
  let_events_be_told();
  EXPECT_TRUE(rt.block_on(writer.writable()).ready().is_error());
}

TEST_P(AsyncFdTest, TryIoDoesNotCallWhereItIsKnownThatItWouldBlock) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  int calls = 0;
  char byte = 0;
  const auto take = [&] {
    ++calls;
    return ::read(reader.fd(), &byte, 1);
  };
  for (int i = 0; i < 3; ++i) {
    const auto taken = reader.try_io(Interest::readable, take);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error(), std::errc::operation_would_block);
  }
  EXPECT_EQ(calls, 1) << "the first try found out";
  pipe.put("x");
  let_events_be_told();
  EXPECT_TRUE(reader.try_io(Interest::readable, take));
  EXPECT_EQ(calls, 2);
}

TEST_P(AsyncFdTest, AnErrorOtherThanWouldBlockIsTheResultAndLeavesItReady) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  const auto fails = [] { return Result<int>(std::errc::io_error); };
  EXPECT_EQ(rt.block_on(reader.async_io(Interest::readable, fails).result()).error(),
            std::errc::io_error);
  EXPECT_THROW(rt.block_on(reader.async_io(Interest::readable, fails)), std::system_error);
  EXPECT_TRUE(reader.now().is_readable());
}

TEST_P(AsyncFdTest, AFreshDescriptorIsReadableOnlyIfThereIsSomethingToRead) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  EXPECT_FALSE(is_readable(reader));
  pipe.put("x");
  rt.block_on(reader.readable());
  const AsyncFd writer(pipe.writer.get(), Interest::writable);
  rt.block_on(writer.writable());
}

TEST_P(AsyncFdTest, AClearedGuardWaitsForNewsAndForgetsNoneThatCameSince) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  pipe.put("x");
  let_events_be_told();
  ReadyGuard first = rt.block_on(reader.readable());
  first.clear_ready();
  EXPECT_FALSE(is_readable(reader)) << "it was cleared, so it is news that counts";
  pipe.put("y");
  let_events_be_told();
  EXPECT_TRUE(is_readable(reader));
  first.clear_ready();  // what it saw is long ago
  EXPECT_TRUE(is_readable(reader));
  ReadyGuard second = rt.block_on(reader.readable());
  char byte = 0;
  EXPECT_TRUE(second.try_io(read_byte(reader.fd(), byte)));
  EXPECT_TRUE(is_readable(reader)) << "there is one more";
  EXPECT_TRUE(second.try_io(read_byte(reader.fd(), byte)));
  EXPECT_FALSE(is_readable(reader)) << "nobody has tried, but it looks";
}

Async<void> wait_readable(const AsyncFd& fd, std::atomic<int>& begun) {
  ++begun;
  co_await fd.readable();
}

TEST_P(AsyncFdTest, AHundredTasksThatWaitAreAllWokenByOneByte) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  reader.clear_blocked(reader.now(), Interest::readable);
  std::atomic<int> begun{0};
  std::vector<JoinHandle<void>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(rt.spawn(borrowed(wait_readable(reader, begun))));
  rt.block_on([](std::atomic<int>& count) -> Async<void> {
    while (count < 100) co_await yield_now();
  }(begun));
  pipe.put("x");
  for (auto& task : tasks) rt.block_on(task);
}

TEST_P(AsyncFdTest, PolledWithoutAnEventAWaitStaysPendingAndNothingIsLost) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  char byte = 0;
  PollHarness one(reader.async_io(Interest::readable, read_byte(reader.fd(), byte)));
  PollHarness other(reader.readable());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(one.poll().is_pending());
    EXPECT_TRUE(other.poll().is_pending());
  }
  pipe.put("x");
  let_events_be_told();
  EXPECT_TRUE(one.is_woken());
  EXPECT_TRUE(other.is_woken());
  EXPECT_TRUE(other.poll().is_ready());
  EXPECT_TRUE(one.poll().is_ready());
  EXPECT_EQ(byte, 'x');
}

TEST_P(AsyncFdTest, DroppedAfterAnyOfItsPollsAWaitLeavesNoWakerAndTheDescriptorWorks) {
  const Pipe pipe;
  const AsyncFd reader(pipe.reader.get(), Interest::readable);
  char byte = 0;
  const auto take = [&] {
    return rt.block_on(reader.async_io(Interest::readable, read_byte(reader.fd(), byte)));
  };
  const auto none_left = [&] {
    EXPECT_FALSE(reader.try_io(Interest::readable, read_byte(reader.fd(), byte)));
  };
  none_left();
  const auto step = [&](std::size_t) {
    pipe.put("b");
    let_events_be_told();
  };
  const auto readiness = testing::drop_at_each_poll([&] { return reader.readable(); }, step,
                                                    [&](std::size_t k) {
                                                      if (k < 2) pipe.put("a");
                                                      EXPECT_EQ(take(), 1U);
                                                      none_left();
                                                    });
  EXPECT_EQ(readiness.polls, 2U);
  EXPECT_EQ(readiness.wakers_left, 0U);
  const auto io = testing::drop_at_each_poll(
      [&] { return reader.async_io(Interest::readable, read_byte(reader.fd(), byte)); }, step,
      [&](std::size_t k) {
        if (k < 2) {
          pipe.put("a");
          EXPECT_EQ(take(), 1U);
        }
        none_left();
      });
  EXPECT_EQ(io.polls, 2U);
  EXPECT_EQ(io.wakers_left, 0U);
}

TEST_P(AsyncFdTest, WhenTheRuntimeEndsWhoWaitsIsToldAndSoIsWhoeverComesLater) {
  const Pipe pipe;
  std::optional<AsyncFd> reader(std::in_place, pipe.reader.get(), Interest::readable);
  reader->clear_blocked(reader->now(), Interest::readable);
  {
    PollHarness waits(reader->readable().result());
    ASSERT_TRUE(waits.poll().is_pending());
    inside.reset();
    rt.shutdown_timeout(std::chrono::nanoseconds::max());
    EXPECT_TRUE(waits.is_woken());
    auto polled = waits.poll();
    ASSERT_TRUE(polled.is_ready());
    EXPECT_EQ(polled.value().error(), Error::runtime_ended);
  }
  PollHarness later(reader->readable().result());
  auto polled = later.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), Error::runtime_ended);
}

TEST_P(AsyncFdTest, AfterItsRuntimeHasEndedADescriptorCantBeWatched) {
  rt.shutdown_timeout(std::chrono::nanoseconds::max());
  const OwnedFd fd = event_fd();
  const auto made = AsyncFd::borrow(fd.get());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), Error::runtime_ended);
}

// --- A forked child. ---

TEST(AsyncFdFork, AForkedChildThatDestroysItsCopyLeavesTheParentsAlone) {
  Runtime rt = Runtime::builder().current_thread().build();
  const EnterGuard here = rt.enter();
  const OwnedFd fd = event_fd();
  std::optional<AsyncFd> watched(std::in_place, fd.get(), Interest::readable);
  watched->clear_blocked(watched->now(), Interest::readable);
  const pid_t child = ::fork();
  if (child == 0) {
    watched.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  signal_event(fd.get());
  rt.block_on(watched->readable());  // for ever, if the parent's descriptor were removed
}

// --- Misuse. ---

class AsyncFdDeathTest : public ::testing::Test {
 protected:
  AsyncFdDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  Runtime rt = Runtime::builder().current_thread().build();
  EnterGuard here = rt.enter();
};

TEST_F(AsyncFdDeathTest, MovedWhileAFutureWaitsForItItAbortsAtTheNextPoll) {
  AsyncFd fd(event_fd());
  fd.clear_blocked(fd.now(), Interest::readable);
  PollHarness waits(fd.readable());
  ASSERT_TRUE(waits.poll().is_pending());
  EXPECT_DEATH(
      {
        const AsyncFd moved(std::move(fd));
        (void)waits.poll();
      },
      "moved from");
}

TEST_F(AsyncFdDeathTest, UsedAfterItWasMovedItAborts) {
  AsyncFd fd(event_fd());
  const AsyncFd moved(std::move(fd));
  EXPECT_DEATH((void)fd.now(), "moved from");
}

TEST_F(AsyncFdDeathTest, DestroyedWhileAFutureWaitsForItItAborts) {
  EXPECT_DEATH(
      {
        std::optional<AsyncFd> fd(event_fd());
        fd->clear_blocked(fd->now(), Interest::readable);
        PollHarness waits(fd->readable());
        (void)waits.poll();
        fd.reset();
      },
      "destroyed while a future of it still waits");
}

TEST_F(AsyncFdDeathTest, WaitingForADirectionInWhichItIsNotWatchedAborts) {
  AsyncFd fd(event_fd(), Interest::readable);
  PollHarness waits(fd.writable());
  EXPECT_DEATH((void)waits.poll(), "would last for ever");
}

TEST_F(AsyncFdDeathTest, MadeInAForkedChildItAborts) {
  GTEST_FLAG_SET(death_test_style, "fast");  // forks
  EXPECT_DEATH((void)AsyncFd::own(event_fd()), "used in a forked child");
  EXPECT_DEATH(rt.block_on(sleep(std::chrono::seconds(1))), "used in a forked child");
}

TEST_F(AsyncFdDeathTest, MadeOutsideOfARuntimeItAborts) {
  EXPECT_DEATH(
      {
        std::thread outside([] { const AsyncFd fd(event_fd()); });
        outside.join();
      },
      "outside of a runtime");
}

}  // namespace
}  // namespace rouse::io
