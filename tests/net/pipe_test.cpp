#include "rouse/net/pipe.hpp"

#include <array>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/io/error.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

class Fifos : public OnRuntime {
 protected:
  std::string make_fifo() {
    std::string path = directory.file("fifo");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  SocketDirectory directory;
};
INSTANTIATE_TEST_SUITE_P(On, Fifos, both_kinds(), name_of);

TEST_P(Fifos, CarryBytesFromTheSenderToTheReceiver) {
  const std::string path = make_fifo();
  run([&]() -> Async<void> {
    auto receiver = pipe::OpenOptions().open_receiver(path).value();
    auto sender = pipe::OpenOptions().open_sender(path).value();
    co_await sender.write_all("hello");
    co_await sender.shutdown();
    EXPECT_EQ(sender.fd(), -1);
    const std::string got = co_await receiver.read_to_string();
    EXPECT_EQ(got, "hello");
    const auto after = co_await sender.write("x").result();
    EXPECT_TRUE(!after && after.error() == std::errc::broken_pipe);
  });
}

TEST_P(Fifos, ASenderWithoutAReceiverIsToldSoUnlessItIsBoth) {
  const std::string path = make_fifo();
  run([&]() -> Async<void> {
    const auto alone = pipe::OpenOptions().open_sender(path);
    EXPECT_TRUE(!alone && alone.error() == std::errc::no_such_device_or_address);
    auto sender = pipe::OpenOptions().read_write(true).open_sender(path).value();
    co_await sender.write_all("early");
    auto receiver = pipe::OpenOptions().open_receiver(path).value();
    std::array<char, 5> buf{};
    co_await receiver.read_exact(buf);
    EXPECT_EQ(text_of(buf, 5), "early");
  });
}

TEST_P(Fifos, AReceiverReadsTheEndAfterEachSenderAndHearsTheNext) {
  const std::string path = make_fifo();
  run([&]() -> Async<void> {
    auto receiver = pipe::OpenOptions().open_receiver(path).value();
    std::array<char, 8> buf{};
    const std::size_t before = co_await receiver.read(buf);
    EXPECT_EQ(before, 0U);
    for (int round = 0; round < 3; ++round) {
      auto sender = pipe::OpenOptions().open_sender(path).value();
      testing::PollHarness waits(receiver.read(buf));
      EXPECT_TRUE(waits.poll().is_pending());
      co_await sender.write_all("abc");
      const std::size_t got = co_await waits.future();
      EXPECT_EQ(got, 3U);
      co_await sender.shutdown();
      const std::size_t end = co_await receiver.read(buf);
      EXPECT_EQ(end, 0U);
    }
  });
}

TEST_P(Fifos, AReceiverThatIsBothOutlivesItsSenders) {
  const std::string path = make_fifo();
  run([&]() -> Async<void> {
    auto receiver = pipe::OpenOptions().read_write(true).open_receiver(path).value();
    std::array<char, 1> buf{};
    for (const char* each : {"a", "b"}) {
      {
        auto sender = pipe::OpenOptions().open_sender(path).value();
        co_await sender.write_all(each);
      }
      co_await receiver.read_exact(buf);
      EXPECT_EQ(buf[0], each[0]);
    }
    const auto none = receiver.try_read(buf);
    EXPECT_TRUE(!none && none.error() == std::errc::operation_would_block);
  });
}

TEST_P(Fifos, WhatIsNoFifoIsRefusedUnlessUnchecked) {
  run([&]() -> Async<void> {
    const std::string file = directory.file("plain");
    io::OwnedFd(::open(file.c_str(), O_CREAT | O_WRONLY, 0600)).close();
    const auto receiver = pipe::OpenOptions().open_receiver(file);
    EXPECT_TRUE(!receiver && receiver.error() == std::errc::invalid_argument);
    const auto sender = pipe::OpenOptions().open_sender(file);
    EXPECT_TRUE(!sender && sender.error() == std::errc::invalid_argument);
    const auto unchecked = pipe::OpenOptions().unchecked(true).open_receiver(file);
    EXPECT_TRUE(!unchecked && unchecked.error() == io::Error::not_pollable);
    const auto missing = pipe::OpenOptions().open_receiver(directory.file("missing"));
    EXPECT_TRUE(!missing && missing.error() == std::errc::no_such_file_or_directory);
    const auto odd = pipe::OpenOptions().open_receiver(std::string("a\0b", 3));
    EXPECT_TRUE(!odd && odd.error() == std::errc::invalid_argument);
    co_return;
  });
}

TEST_P(Fifos, AFullPipeMakesTheSenderWaitAndNothingIsLost) {
  run([]() -> Async<void> {
    auto [sender, receiver] = pipe::pipe();
    const std::string all(1 << 20, 'x');
    const auto send = [](pipe::Sender to, std::string bytes) -> Async<void> {
      co_await to.write_all(bytes);
    };
    auto sending = spawn(send, std::move(sender), all);
    const std::string got = co_await receiver.read_to_string();
    EXPECT_EQ(got, all);
    co_await std::move(sending);
  });
}

TEST_P(Fifos, WritingWithoutAReceiverIsABrokenPipeAndNoSignal) {
  run([]() -> Async<void> {
    auto [sender, receiver] = pipe::pipe();
    {
      const pipe::Receiver gone = std::move(receiver);
    }
    const auto written = co_await sender.write("x").result();
    EXPECT_TRUE(!written && written.error() == std::errc::broken_pipe);
  });
}

TEST_P(Fifos, TryingDoesNotWait) {
  run([]() -> Async<void> {
    auto [sender, receiver] = pipe::pipe();
    std::array<char, 4> buf{};
    const auto nothing = receiver.try_read(buf);
    EXPECT_TRUE(!nothing && nothing.error() == std::errc::operation_would_block);
    co_await sender.writable();
    EXPECT_EQ(sender.try_write("ab").value(), 2U);
    co_await receiver.readable();
    EXPECT_EQ(receiver.try_read(buf).value(), 2U);
  });
}

TEST_P(Fifos, WhatIsDroppedMidwayLosesNothing) {
  run([]() -> Async<void> {
    auto [sender, receiver] = pipe::pipe();
    std::array<char, 4> buf{};
    {
      testing::PollHarness dropped(receiver.read(buf));
      EXPECT_TRUE(dropped.poll().is_pending());
    }
    co_await sender.write_all("abcd");
    co_await receiver.read_exact(buf);
    EXPECT_EQ(text_of(buf, 4), "abcd");
    while (sender.try_write(std::string(4096, 'x'))) {
    }
    {
      testing::PollHarness dropped(sender.write("never"));
      EXPECT_TRUE(dropped.poll().is_pending());
    }
    co_await sender.shutdown();
    const std::string rest = co_await receiver.read_to_string();
    EXPECT_EQ(rest, std::string(rest.size(), 'x'));
  });
}

TEST_P(Fifos, AReceiverThatOutlivesItsRuntimeSaysSo) {
  std::optional<Runtime> inner(make_runtime(GetParam()));
  auto ends = inner->block_on(
      []() -> Async<std::pair<pipe::Sender, pipe::Receiver>> { co_return pipe::pipe(); }());
  std::array<char, 1> buf{};
  {
    testing::PollHarness first(ends.second.read(buf));
    EXPECT_TRUE(first.poll().is_pending());
  }
  inner.reset();
  testing::PollHarness read(ends.second.read(buf).result());
  auto polled = read.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
}

}  // namespace
}  // namespace rouse::net
