// AnyConnection: a stream of any kind behaves as it does without it.
#include "rouse/io/any_connection.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/copy.hpp"
#include "rouse/io/copy_bidirectional.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/split.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/shape_text.hpp"

namespace {

using namespace rouse;
using io::AnyConnection;
using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

static_assert(AsyncRead<AnyConnection> && AsyncReadVectored<AnyConnection>);
static_assert(AsyncWrite<AnyConnection> && AsyncWriteVectored<AnyConnection>);
static_assert(std::movable<AnyConnection> && !std::copyable<AnyConnection>);
static_assert(std::is_nothrow_move_constructible_v<AnyConnection>);
static_assert(std::is_nothrow_move_assignable_v<AnyConnection>);
static_assert(!std::constructible_from<AnyConnection, io::SimplexReader>, "no writer");
static_assert(!io::is_full_duplex<AnyConnection>, "nobody knows before it runs");

/// A stream that notes what is asked of it, and fails as it is told. It has no vectored calls.
class Noting : public io::ReadMembers<Noting>, public io::WriteMembers<Noting> {
 public:
  explicit Noting(std::string& notes) : notes_(&notes) {}
  Noting(Noting&&) = default;
  ~Noting() {
    if (lives_) *notes_ += "~";
  }

  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte> buf) {
    return note("r", buf.size());
  }
  Poll<Result<std::size_t>> poll_write(Context&, std::span<const std::byte> data) {
    return note("w", data.size());
  }
  Poll<Result<void>> poll_flush(Context&) {
    *notes_ += "f";
    return Poll<Result<void>>::ready(Result<void>(std::errc::io_error));
  }
  Poll<Result<void>> poll_shutdown(Context&) {
    *notes_ += "s";
    return Poll<Result<void>>::ready(Result<void>());
  }

 private:
  Poll<Result<std::size_t>> note(const char* what, std::size_t size) {
    *notes_ += what + std::to_string(size);
    return Poll<Result<std::size_t>>::ready(size);
  }

  std::string* notes_;
  std::unique_ptr<int> lives_ = std::make_unique<int>();
};

TEST(AnyConnection, ForwardsEachCall) {
  std::string notes;
  {
    AnyConnection connection{Noting(notes)};
    std::array<char, 3> buf{};
    EXPECT_EQ(block_on(connection.read(buf)), 3U);
    EXPECT_EQ(block_on(connection.write("four")), 4U);
    EXPECT_EQ(block_on(connection.flush().result()).error(), std::errc::io_error);
    block_on(connection.shutdown());
    EXPECT_EQ(notes, "r3w4fs");
  }
  EXPECT_EQ(notes, "r3w4fs~") << "the stream goes with it, once";
}

TEST(AnyConnection, ManyBuffersOfAStreamThatTakesOneGoToTheFirstThatIsNotEmpty) {
  std::string notes;
  AnyConnection connection{Noting(notes)};
  std::array<char, 2> two{};
  std::array<char, 5> five{};
  const std::array<io::BufferMut, 3> in{io::BufferMut(), io::BufferMut(two), io::BufferMut(five)};
  const std::array<io::Buffer, 3> out{io::Buffer(), io::Buffer(five), io::Buffer(two)};
  EXPECT_EQ(block_on(connection.readv(in)), 2U);
  EXPECT_EQ(block_on(connection.writev(out)), 5U);
  EXPECT_EQ(notes, "r2w5");
}

TEST(AnyConnection, MovesWithoutMovingTheStream) {
  std::string notes;
  AnyConnection first{Noting(notes)};
  AnyConnection second(std::move(first));
  std::string others;
  AnyConnection third{Noting(others)};
  third = std::move(second);
  EXPECT_EQ(others, "~");
  EXPECT_EQ(notes, "");
  EXPECT_EQ(block_on(third.write("x")), 1U);
  EXPECT_EQ(notes, "w1");
  AnyConnection& same = third;
  third = std::move(same);
  EXPECT_EQ(notes, "w1");
}

TEST(AnyConnection, DiesWhenItIsUsedAfterAMove) {
  auto [near, far] = io::duplex(8);
  AnyConnection connection(std::move(near));
  const AnyConnection taken(std::move(connection));
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  EXPECT_DEATH((void)block_on(connection.write("x")), "moved from");
}

TEST(AnyConnection, ThePeerReadsEndOfFileWhenItIsDropped) {
  auto [near, far] = io::duplex(8);
  std::optional<AnyConnection> connection(std::in_place, std::move(near));
  block_on(connection->write_all("bye"));
  connection.reset();
  EXPECT_EQ(block_on(far.read_to_string()), "bye");
  EXPECT_EQ(block_on(far.write("x").result()).error(), std::errc::broken_pipe);
}

TEST(AnyConnection, APendingReadIsWokenAndADroppedOneLosesNothing) {
  auto [near, far_end] = io::duplex(8);
  auto& far = far_end;
  AnyConnection connection(std::move(near));
  std::array<char, 4> buf{};
  const auto report = drop_at_each_poll([&] { return connection.read(buf); },
                                        [&](std::size_t) { block_on(far.write_all("ab")); });
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(std::string(buf.data(), 2), "ab");
  PollHarness reading(connection.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  EXPECT_TRUE(reading.kept_waker());
  block_on(far.write_all("c"));
  EXPECT_TRUE(reading.is_woken());
  EXPECT_TRUE(reading.poll().is_ready());
}

TEST(AnyConnection, ADroppedWriteHasWrittenNothing) {
  auto [near, far_end] = io::duplex(2);
  auto& far = far_end;
  AnyConnection connection(std::move(near));
  std::string got;
  std::array<char, 4> buf{};
  block_on(connection.write_all("ab"));
  const auto report = drop_at_each_poll([&] { return connection.write("c"); },
                                        [&](std::size_t) {
                                          const std::size_t n = block_on(far.read(buf));
                                          got.append(buf.data(), n);
                                        });
  EXPECT_EQ(report.polls, 2U);
  connection = AnyConnection(io::duplex(1).first);
  EXPECT_EQ(got + block_on(far.read_to_string()), "abc");
}

TEST(AnyConnection, WorksUnderAdaptersAndInCopies) {
  auto [near, far] = io::duplex(64);
  AnyConnection left(std::move(near));
  AnyConnection right(std::move(far));
  auto [other_near, other_far] = io::duplex(64);
  block_on(other_far.write_all("one\ntwo\n"));
  block_on(other_far.shutdown());
  EXPECT_EQ(block_on(io::copy(other_near, left)), 8U);
  block_on(left.shutdown());
  io::BufReader reader(right);
  std::string line;
  EXPECT_EQ(block_on(reader.read_line(line)), 4U);
  EXPECT_EQ(line, "one\n");
  io::BufStream both(std::move(right));
  block_on(both.write_all("answer"));
  block_on(both.flush());
  block_on(both.shutdown());
  EXPECT_EQ(block_on(left.read_to_string()), "answer");
}

/// As a DuplexStream, but for one thread at a time: it counts without a lock, for a sanitizer.
class OneAtATime : public io::ReadMembers<OneAtATime>, public io::WriteMembers<OneAtATime> {
 public:
  explicit OneAtATime(io::DuplexStream inner) : inner_(std::move(inner)) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    ++polls_;
    return inner_.poll_read(cx, buf);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    ++polls_;
    return inner_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context& cx) { return inner_.poll_flush(cx); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return inner_.poll_shutdown(cx); }

 private:
  io::DuplexStream inner_;
  std::size_t polls_ = 0;
};

TEST(AnyConnection, KnowsWhetherItsStreamIsFullDuplex) {
  auto [near, far] = io::duplex(8);
  EXPECT_TRUE(AnyConnection(std::move(near)).is_full_duplex());
  EXPECT_FALSE(AnyConnection(OneAtATime(std::move(far))).is_full_duplex());
}

Async<> send_numbers(io::WriteHalf<AnyConnection> writer, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) co_await writer.write_all(std::to_string(i) + "\n");
  co_await writer.shutdown();
}

Async<std::size_t> count_numbers(io::ReadHalf<AnyConnection> half) {
  io::BufReader reader(std::move(half));
  std::string line;
  std::size_t next = 0;
  while (co_await reader.read_line(line) != 0) {
    if (line != std::to_string(next) + "\n") co_return next;
    ++next;
    line.clear();
  }
  co_return next;
}

Async<> echo_all(AnyConnection peer) {
  std::array<char, 64> buf;
  for (;;) {
    const std::size_t n = co_await peer.read(buf);
    if (n == 0) co_return co_await peer.shutdown();
    co_await peer.write_all(io::Buffer(buf.data(), n));
  }
}

void halves_work_at_the_same_time(AnyConnection connection, AnyConnection peer) {
  constexpr std::size_t count = 3000;
  Runtime runtime;
  auto [reader, writer] = io::split(std::move(connection));
  auto echoing = runtime.spawn(echo_all, std::move(peer));
  auto sending = runtime.spawn(send_numbers, std::move(writer), count);
  EXPECT_EQ(runtime.block_on(count_numbers(std::move(reader))), count);
  runtime.block_on(std::move(sending));
  runtime.block_on(std::move(echoing));
}

TEST(AnyConnection, HalvesOfAFullDuplexStreamWorkAtTheSameTime) {
  auto [near, far] = io::duplex(32);
  halves_work_at_the_same_time(std::move(near), std::move(far));
}

TEST(AnyConnection, HalvesOfAStreamForOneThreadTakeTurns) {
  auto [near, far] = io::duplex(32);
  halves_work_at_the_same_time(OneAtATime(std::move(near)), std::move(far));
}

/// During a read of one half, the other can write, or has to wait.
class WritesDuringRead : public io::ReadMembers<WritesDuringRead>,
                         public io::WriteMembers<WritesDuringRead> {
 public:
  explicit WritesDuringRead(Function<void()>& during) : during_(&during) {}
  Poll<Result<std::size_t>> poll_read(Context&, std::span<std::byte>) {
    (*during_)();
    return Poll<Result<std::size_t>>::ready(0U);
  }
  static Poll<Result<std::size_t>> poll_write(Context&, std::span<const std::byte> data) {
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  static Poll<Result<void>> poll_flush(Context&) {
    return Poll<Result<void>>::ready(Result<void>());
  }
  static Poll<Result<void>> poll_shutdown(Context&) {
    return Poll<Result<void>>::ready(Result<void>());
  }

 private:
  Function<void()>* during_;
};
struct WritesDuringReadFully : WritesDuringRead {
  using WritesDuringRead::WritesDuringRead;
};

template <class S>
bool can_write_during_a_read() {
  Function<void()> during;
  auto [reader, writing] = io::split(AnyConnection(S(during)));
  auto& writer = writing;
  bool could = false;
  during = [&] {
    Context cx(Waker::noop());
    could = writer.write("x").poll(cx).is_ready();
  };
  std::array<char, 1> buf{};
  (void)block_on(reader.read(buf));
  return could;
}

}  // namespace

template <>
inline constexpr bool rouse::io::is_full_duplex<WritesDuringReadFully> = true;

namespace {

TEST(AnyConnection, ItsHalvesTakeTurnsOnlyIfTheStreamNeedsIt) {
  EXPECT_TRUE(can_write_during_a_read<WritesDuringReadFully>());
  EXPECT_FALSE(can_write_during_a_read<WritesDuringRead>());
}

TEST(AnyConnection, UnsplitGivesItBack) {
  auto [near, far] = io::duplex(8);
  auto [reader, writer] = io::split(AnyConnection(std::move(near)));
  AnyConnection whole = io::unsplit(std::move(reader), std::move(writer));
  block_on(whole.write_all("abc"));
  std::array<char, 4> buf{};
  EXPECT_EQ(block_on(far.read(buf)), 3U);
}

TEST(AnyConnection, ADumpSeesWhatTheStreamInsideWaitsFor) {
  auto [near, far] = io::duplex(1);
  AnyConnection connection(std::move(near));
  std::array<char, 4> buf{};
  Context cx(Waker::noop());
  auto reading = connection.read(buf);
  EXPECT_TRUE(reading.poll(cx).is_pending());
  EXPECT_EQ(test::ShapeText(reading).text(), "read(duplex)");
  auto [reader, writer] = io::split(std::move(connection));
  auto writing = writer.write_all("abc");
  EXPECT_TRUE(writing.poll(cx).is_pending());
  EXPECT_EQ(test::ShapeText(writing).text(), "write_all(duplex)");
}

Async<> talk_over_tcp() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  AnyConnection client(co_await net::TcpStream::connect(listener.local_addr()));
  auto accepted = co_await listener.accept();
  EXPECT_TRUE(client.is_full_duplex());
  AnyConnection server(std::move(accepted.stream));
  auto echoing = spawn(echo_all, std::move(server));
  const std::string sent(300'000, 'x');
  auto [reader, writer] = io::split(std::move(client));
  auto send = [](io::WriteHalf<AnyConnection> half, std::string text) -> Async<> {
    co_await half.write_all(text);
    co_await half.shutdown();
  };
  auto sending = spawn(send, std::move(writer), sent);
  EXPECT_EQ(co_await reader.read_to_string(), sent);
  co_await sending;
  co_await echoing;
}

TEST(AnyConnection, CarriesATcpStream) {
  Runtime runtime;
  runtime.block_on(talk_over_tcp());
}

}  // namespace
