// What went wrong in the I/O of other runtimes: descriptors run out, peers that misbehave, signals.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "net/native_address.hpp"
#include "net/support.hpp"
#include "sys/socket.hpp"

namespace rouse::net {

using namespace internal;
namespace {

using namespace std::chrono_literals;
using testing::PollHarness;

class IoPitfalls : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, IoPitfalls, both_kinds(), name_of);

// --- No descriptors. ---

std::chrono::microseconds cpu_time() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

Async<void> serve_all(TcpListener& listener, int count, std::atomic<int>& accepted) {
  std::vector<TcpStream> streams;
  for (int i = 0; i < count; ++i) {
    auto next = co_await listener.accept();
    co_await next.stream.write_all("x");
    streams.push_back(std::move(next.stream));
    ++accepted;
  }
}

TEST_P(IoPitfalls, AcceptOnASocketThatCantIsAnError) {
  io::OwnedFd datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto accepting = [](io::OwnedFd fd) -> Async<std::error_code> {
    auto listener = TcpListener::from_fd(std::move(fd)).value();
    const auto accepted = co_await listener.accept().result();
    co_return accepted ? std::error_code() : accepted.error();
  };
  EXPECT_EQ(rt.block_on(accepting(std::move(datagrams))), std::errc::operation_not_supported);
}

TEST_P(IoPitfalls, WithoutDescriptorsAcceptDoesNotSpinAndServesAllWhenTheyAreBack) {
  if (address_sanitizer) GTEST_SKIP() << "UBSan's check of virtual calls needs descriptors itself";
  constexpr int clients = 200;
  TcpListener listener = run([] { return TcpListener::bind("127.0.0.1:0").result(); }).value();
  std::vector<io::OwnedFd> waiting;
  for (int i = 0; i < clients; ++i) {  // the system connects them before they are accepted
    waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(sys::connect(waiting.back().get(), to_native(listener.local_addr())).value());
  }
  std::atomic<int> accepted{0};
  std::optional<JoinHandle<void>> server;
  {
    const DescriptorLimit none(static_cast<rlim_t>(3));
    server.emplace(rt.spawn(borrowed(serve_all(listener, clients, accepted))));
    const auto before = cpu_time();
    const auto start = std::chrono::steady_clock::now();
    rt.block_on(sleep(500ms));
    const auto used = cpu_time() - before;
    const auto passed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(used, passed / 2) << "a loop over EMFILE takes all of the time";
    EXPECT_EQ(accepted.load(), 0);
  }
  rt.block_on(*server);
  EXPECT_EQ(accepted.load(), clients);
  for (const auto& client : waiting) {
    char byte = 0;
    EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 1);
  }
}

// --- Signals. ---

TEST_P(IoPitfalls, WritingToAPeerThatHasGoneIsAnErrorAlsoWhereTheSignalWouldKill) {
  ASSERT_NE(::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto [here, there] = UnixStream::pair();
    {
      const TcpStream gone = std::move(server);
      const UnixStream gone_too = std::move(there);
    }
    Result<std::size_t> written = co_await client.write("x").result();
    while (written) written = co_await client.write("x").result();
    EXPECT_TRUE(written.error() == std::errc::broken_pipe ||
                written.error() == std::errc::connection_reset);
    written = co_await here.write("x").result();
    EXPECT_TRUE(!written && written.error() == std::errc::broken_pipe);
    const std::array<io::Buffer, 2> bufs{io::Buffer("x"), io::Buffer("y")};
    written = co_await here.writev(bufs).result();
    EXPECT_TRUE(!written && written.error() == std::errc::broken_pipe);
    EXPECT_FALSE(here.try_write("x"));
  });
}

/// While it lives a signal comes every millisecond and interrupts system calls.
class Bombardment {
 public:
  Bombardment() {
    struct sigaction action{};
    action.sa_handler = [](int) { ++hits; };  // and no SA_RESTART
    EXPECT_EQ(::sigaction(SIGALRM, &action, &before_), 0);
    set(1000);
  }
  Bombardment(const Bombardment&) = delete;
  Bombardment& operator=(const Bombardment&) = delete;
  ~Bombardment() {
    set(0);
    EXPECT_EQ(::sigaction(SIGALRM, &before_, nullptr), 0);
  }
  static inline std::atomic<int> hits{0};

 private:
  static void set(suseconds_t interval) {
    const itimerval every{.it_interval = {.tv_sec = 0, .tv_usec = interval},
                          .it_value = {.tv_sec = 0, .tv_usec = interval}};
    EXPECT_EQ(::setitimer(ITIMER_REAL, &every, nullptr), 0);
  }
  struct sigaction before_{};
};

std::string pattern(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 23);
  return text;
}

template <class S>
Async<std::size_t> read_and_compare(S& stream, const std::string& expected) {
  std::array<char, 16384> buf{};
  std::size_t done = 0;
  for (;;) {
    const std::size_t n = co_await stream.read(buf);
    if (n == 0) co_return done;
    if (expected.compare(done, n, buf.data(), n) != 0) throw std::runtime_error("wrong bytes");
    done += n;
  }
}
template <class S>
Async<void> write_and_end(S& stream, const std::string& data) {
  co_await stream.write_all(data);
  co_await stream.shutdown();
}

TEST_P(IoPitfalls, SignalsThatInterruptSystemCallsLoseNothing) {
  const Bombardment bombardment;
  run([]() -> Async<void> {
    const std::string data = pattern(1'000'000);
    const int before = Bombardment::hits;
    // At least so long that many signals come.
    for (int round = 0; round < 200 && Bombardment::hits < before + 50; ++round) {
      auto [client, server] = co_await tcp_pair();
      auto [here, there] = UnixStream::pair();
      auto [a, n, b, m] = co_await join(write_and_end(client, data), read_and_compare(server, data),
                                        write_and_end(here, data), read_and_compare(there, data));
      (void)a;
      (void)b;
      EXPECT_EQ(n, data.size());
      EXPECT_EQ(m, data.size());
      co_await sleep(1ms);  // so that signals come while all threads wait, too
    }
    EXPECT_GE(Bombardment::hits, before + 50);
  });
}

// --- Peers that misbehave. ---

TEST_P(IoPitfalls, EachDirectionOfAUnixStreamEndsByItself) {
  run([]() -> Async<void> {
    auto [here, there] = UnixStream::pair();
    co_await here.write_all("request");
    co_await here.shutdown();
    const std::string request = co_await there.read_to_string();
    EXPECT_EQ(request, "request");
    co_await there.write_all("answer");
    co_await there.shutdown();
    const std::string answer = co_await here.read_to_string();
    EXPECT_EQ(answer, "answer");
  });
}

Async<std::error_code> write_until_it_fails(TcpStream& stream) {
  const std::string data = pattern(65536);
  for (;;) {
    const auto written = co_await stream.write(data).result();
    if (!written) co_return written.error();
  }
}
Async<std::error_code> read_until_it_fails(TcpStream& stream) {
  std::array<char, 64> buf{};
  for (;;) {
    const auto read = co_await stream.read(buf).result();
    if (!read) co_return read.error();
    if (*read == 0) co_return std::error_code();
  }
}
Async<int> reset_when_full(TcpStream& client, TcpStream server) {
  for (;;) {  // until the writer waits
    PollHarness write(client.writable());
    if (write.poll().is_pending()) break;
    co_await sleep(1ms);
  }
  server.set_linger(0s);
  co_return 0;
}

TEST_P(IoPitfalls, AResetIsSeenByTheReaderAndTheWriterThatBothWait) {
  run([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    auto [of_reader, of_writer, reset] =
        co_await join(read_until_it_fails(client), write_until_it_fails(client),
                      reset_when_full(client, std::move(server)));
    (void)reset;
    // The first of the two gets the reset, the other finds a socket that has had its error.
    EXPECT_TRUE(of_reader == std::errc::connection_reset || of_reader == std::error_code());
    EXPECT_TRUE(of_writer == std::errc::connection_reset || of_writer == std::errc::broken_pipe);
  });
}

Async<void> drip(TcpStream& stream, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    co_await stream.write_all("x");
    co_await sleep(4ms);
  }
}
Async<int> read_bytes(TcpStream& stream) {
  std::array<char, 100> buf{};
  int reads = 0;
  try {
    for (;;) {
      const std::size_t n = co_await timeout(150ms, stream.read(buf));
      if (n == 0) co_return reads;
      reads += static_cast<int>(n);
    }
  } catch (const TimedOut&) {
    co_return reads;
  }
}

// With the runtime's own clock: the machine may stand still for longer than any timeout.
TEST(IoPitfallsOnAPausedClock, ATimeoutForEachReadOutlivesASlowPeerAndEndsASilentOne) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([]() -> Async<void> {
    auto [client, server] = co_await tcp_pair();
    const auto start = time::now();
    auto [sent, got] = co_await join(drip(client, 50), read_bytes(server));
    (void)sent;
    EXPECT_EQ(got, 50) << "more than one timeout's time in all, but none between two";
    EXPECT_GE(time::now() - start, 49 * 4ms + 150ms);
    co_await client.write_all("y");
    std::array<char, 8> buf{};
    const std::size_t n = co_await server.read(buf);
    EXPECT_EQ(n, 1U) << "the read that timed out took nothing with it";
  }());
}

TEST_P(IoPitfalls, AReaderThatDoesNotReadStopsTheWriter) {
  TcpPair pair = run([] { return tcp_pair(); });
  const std::string data = pattern(65536);
  std::size_t sent = 0;
  run([&]() -> Async<void> {  // until nothing has gone for a while
    for (;;) {
      try {
        sent += co_await timeout(50ms, pair.client.write(data));
      } catch (const TimedOut&) {
        co_return;
      }
    }
  });
  EXPECT_LT(sent, 64U << 20) << "only what the system keeps for both sides";
  for (int i = 0; i < 100; ++i) {
    const auto more = pair.client.try_write(data);
    ASSERT_FALSE(more);
    ASSERT_EQ(more.error(), std::errc::operation_would_block);
  }
  PollHarness write(pair.client.write(data));
  EXPECT_TRUE(write.poll().is_pending());
  std::vector<char> buf(1 << 20);
  std::size_t received = 0;
  run([&]() -> Async<void> {
    while (received < sent) received += co_await pair.server.read(buf);
    co_await pair.client.writable();
  });
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(write.poll().is_ready());
}

// --- Futures dropped midway. ---

/// Until there is no more room; how many bytes.
std::size_t fill(UnixStream& stream) {
  const std::string data = pattern(65536);
  std::size_t sum = 0;
  while (const auto n = stream.try_write(data)) sum += *n;
  return sum;
}
/// All that is there.
std::size_t drain(Runtime& rt, UnixStream& stream) {
  rt.block_on(stream.readable());
  std::vector<char> buf(1 << 20);
  std::size_t sum = 0;
  while (const auto n = stream.try_read(buf)) sum += *n;
  return sum;
}

TEST_P(IoPitfalls, AWriteDroppedAtAnyPollHasWrittenNothingAndTheStreamWorks) {
  const EnterGuard here = rt.enter();
  auto [writer, reader] = UnixStream::pair();
  std::size_t filled = 0;
  const auto report = testing::drop_at_each_poll(
      [&] {
        filled = fill(writer);
        return writer.write("last");
      },
      [&](std::size_t) {
        EXPECT_EQ(drain(rt, reader), filled);
        rt.block_on(writer.writable());
      },
      [&](std::size_t k) {
        EXPECT_EQ(drain(rt, reader), k < 2 ? filled : 4U);
        rt.block_on(writer.writable());
      });
  EXPECT_EQ(report.polls, 2U);
  rt.block_on(writer.write_all("works"));
  std::array<char, 16> buf{};
  EXPECT_EQ(rt.block_on(reader.read(buf)), 5U);
}

TEST_P(IoPitfalls, APeekOrAReadOfSeveralBuffersDroppedAtAnyPollLosesNoByte) {
  const EnterGuard here = rt.enter();
  auto [writer, reader] = UnixStream::pair();
  std::array<char, 2> one{};
  std::array<char, 2> other{};
  const std::array<io::BufferMut, 2> bufs{io::BufferMut(one), io::BufferMut(other)};
  const auto send = [&](std::size_t) {
    ASSERT_TRUE(writer.try_write("abc"));
    rt.block_on(reader.readable());
  };
  std::array<char, 8> all{};
  ASSERT_FALSE(reader.try_read(all));
  const auto peek = testing::drop_at_each_poll([&] { return reader.peek(all); }, send,
                                               [&](std::size_t k) {
                                                 if (k < 2) send(k);
                                                 EXPECT_EQ(rt.block_on(reader.read(all)), 3U);
                                                 EXPECT_FALSE(reader.try_read(all));
                                               });
  EXPECT_EQ(peek.polls, 2U);
  const auto readv = testing::drop_at_each_poll([&] { return reader.readv(bufs); }, send,
                                                [&](std::size_t k) {
                                                  if (k < 2) {
                                                    send(k);
                                                    EXPECT_EQ(rt.block_on(reader.read(all)), 3U);
                                                  }
                                                  EXPECT_FALSE(reader.try_read(all));
                                                });
  EXPECT_EQ(readv.polls, 2U);
  EXPECT_EQ(other[0], 'c');
}

TEST_P(IoPitfalls, PolledWithoutAnEventAReadAndAWriteStayPending) {
  const EnterGuard here = rt.enter();
  auto [writer, reader] = UnixStream::pair();
  fill(writer);
  std::array<char, 8> buf{};
  PollHarness write(writer.write("x"));
  PollHarness read(writer.read(buf));
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(write.poll().is_pending());
    EXPECT_TRUE(read.poll().is_pending());
  }
  ASSERT_TRUE(reader.try_write("ab"));
  rt.block_on(writer.readable());
  EXPECT_TRUE(read.is_woken());
  auto polled = read.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value(), 2U);
  EXPECT_TRUE(write.poll().is_pending());
}

}  // namespace
}  // namespace rouse::net
