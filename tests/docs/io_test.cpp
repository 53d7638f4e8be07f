// The code in docs/guide/10_io.md that is in no example.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace io_guide {

namespace io = rouse::io;

// [echo]
template <class Stream>
rouse::Async<> echo(Stream peer) {
  std::array<char, 4096> buf;
  while (const std::size_t n = co_await peer.read(buf)) {
    co_await peer.write_all(io::Buffer(buf.data(), n));
  }
}

rouse::Async<std::string> say(std::string text) {
  auto [client, server] = io::duplex(4096);  // a connection in memory
  auto serving = rouse::spawn(echo<io::DuplexStream>, std::move(server));
  co_await client.write_all(text);
  co_await client.shutdown();  // the server reads the end
  std::string answer = co_await client.read_to_string();
  co_await serving;
  co_return answer;
}
// [/echo]

TEST(IoGuide, Echo) {
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(say("hello")), "hello");
}

// [reader]
/// Gives a text in lower case as capitals.
class Capitals : public io::ReadMembers<Capitals> {
 public:
  explicit Capitals(std::string_view text) : rest_(text) {}

  rouse::Poll<rouse::Result<std::size_t>> poll_read(rouse::Context& cx, std::span<std::byte> buf) {
    if (!cx.take_budget()) return rouse::pending;  // it is always ready: let others run
    const std::size_t n = std::min(buf.size(), rest_.size());
    for (std::size_t i = 0; i < n; ++i) buf[i] = static_cast<std::byte>(rest_[i] - 'a' + 'A');
    rest_.remove_prefix(n);
    return rouse::Poll<rouse::Result<std::size_t>>::ready(n);
  }

 private:
  std::string_view rest_;
};

static_assert(rouse::AsyncRead<Capitals>);
// [/reader]

TEST(IoGuide, Reader) {
  Capitals reader("abc");
  EXPECT_EQ(rouse::block_on(reader.read_to_string()), "ABC");
}

// [errors]
rouse::Async<std::string> greeting(io::DuplexStream& peer) {
  std::string name(5, ' ');
  const rouse::Result<void> read = co_await peer.read_exact(name).result();  // does not throw
  if (!read && read.error() == io::Error::unexpected_eof) co_return "who was that?";
  read.value();  // throws any other error
  co_return "hello " + name;
}
// [/errors]

TEST(IoGuide, Errors) {
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("world"));
  EXPECT_EQ(rouse::block_on(greeting(server)), "hello world");
  rouse::block_on(client.write_all("wo"));
  rouse::block_on(client.shutdown());
  EXPECT_EQ(rouse::block_on(greeting(server)), "who was that?");
}

// [lines]
template <class Stream>
rouse::Async<int> sum_of_lines(Stream peer) {
  io::BufReader reader(peer);       // borrows; std::move(peer) would be owned
  auto lines = reader.lines(1024);  // none of more than 1024 bytes
  int sum = 0;
  while (const std::optional<std::string> line = co_await lines.next_line()) {
    sum += std::stoi(*line);
  }
  io::BufWriter writer(peer);
  co_await writer.write_all("sum: ");
  co_await writer.write_all(std::to_string(sum));
  co_await writer.flush();  // else both are lost
  co_return sum;
}
// [/lines]

TEST(IoGuide, Lines) {
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("1\n2\r\n39"));
  rouse::block_on(client.shutdown());
  EXPECT_EQ(rouse::block_on(sum_of_lines(std::move(server))), 42);
  EXPECT_EQ(rouse::block_on(client.read_to_string()), "sum: 42");
}

// [split]
rouse::Async<> ping(io::WriteHalf<io::DuplexStream> writer) {
  for (int i = 0; i < 3; ++i) co_await writer.write_all("ping ");
  co_await writer.shutdown();
}

rouse::Async<std::string> ping_and_listen(io::DuplexStream stream) {
  auto [reader, writer] = io::split(std::move(stream));
  auto pinging = rouse::spawn(ping, std::move(writer));
  std::string heard = co_await reader.read_to_string();
  co_await pinging;
  co_return heard;
}
// [/split]

TEST(IoGuide, Split) {
  rouse::Runtime rt;
  auto [client, server] = io::duplex(64);
  auto echoing = rt.spawn(echo<io::DuplexStream>, std::move(server));
  EXPECT_EQ(rt.block_on(ping_and_listen(std::move(client))), "ping ping ping ");
  rt.block_on(std::move(echoing));
}

// [proxy]
rouse::Async<std::uint64_t> proxy(io::DuplexStream client, io::DuplexStream server) {
  const io::CopiedBothWays copied = co_await io::copy_bidirectional(client, server);
  co_return copied.a_to_b + copied.b_to_a;
}
// [/proxy]

TEST(IoGuide, Proxy) {
  rouse::Runtime rt;
  auto [client, near] = io::duplex(64);
  auto [far, server] = io::duplex(64);
  auto echoing = rt.spawn(echo<io::DuplexStream>, std::move(server));
  rouse::block_on(client.write_all("abc"));
  rouse::block_on(client.shutdown());
  EXPECT_EQ(rt.block_on(proxy(std::move(near), std::move(far))), 6U);
  rt.block_on(std::move(echoing));
}

// [frames]
rouse::Async<> send_frames(io::SimplexWriter writer) {
  io::FramedWrite frames(std::move(writer), io::LengthDelimitedCodec());
  co_await frames.feed("one");  // into the buffer
  co_await frames.send("two");  // both are sent
}

rouse::Async<std::vector<std::string>> receive_frames(io::SimplexReader reader) {
  io::FramedRead frames(std::move(reader), io::LengthDelimitedCodec().max_frame_length(1024));
  std::vector<std::string> received;
  while (const auto frame = co_await frames.next()) {
    const std::vector<std::byte>& bytes = frame->value();  // throws if it is an error
    received.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  co_return received;
}
// [/frames]

TEST(IoGuide, Frames) {
  auto [reader, writer] = io::simplex(64);
  rouse::block_on(send_frames(std::move(writer)));
  EXPECT_EQ(rouse::block_on(receive_frames(std::move(reader))),
            (std::vector<std::string>{"one", "two"}));
}

// [codec]
/// Frames of two bytes.
struct Pairs {
  using Frame = std::pair<std::byte, std::byte>;

  static rouse::Result<std::optional<Frame>> decode(io::FrameBuffer& input) {
    if (input.size() < 2) return std::optional<Frame>();  // more bytes are needed
    const std::optional<Frame> frame(std::in_place, input.bytes()[0], input.bytes()[1]);
    input.consume(2);
    return frame;
  }
  static rouse::Result<std::optional<Frame>> decode_end(const io::FrameBuffer& input) {
    if (!input.empty()) return make_error_code(io::Error::unexpected_eof);
    return std::optional<Frame>();
  }
};
// [/codec]

TEST(IoGuide, Codec) {
  io::FramedRead pairs(io::BytesReader("abc"), Pairs());
  const auto first = rouse::block_on(pairs.next());
  ASSERT_TRUE(first && first->has_value());
  EXPECT_EQ((**first).second, std::byte{'b'});
  const auto second = rouse::block_on(pairs.next());
  ASSERT_TRUE(second && !second->has_value());
  EXPECT_EQ(second->error(), io::Error::unexpected_eof);
}

// [timeout]
rouse::Async<int> count_lines(io::DuplexStream peer) {
  using namespace std::chrono_literals;
  auto lines = io::BufReader(std::move(peer)).lines();
  int count = 0;
  for (int silences = 0; silences < 3;) {
    // Dropped by the timeout, next_line loses nothing: half a line stays in `lines`.
    const auto line = co_await rouse::timeout(1s, lines.next_line()).result();
    if (!line) {
      ++silences;
    } else if (*line) {
      ++count;
    } else {
      break;
    }
  }
  co_return count;
}
// [/timeout]

TEST(IoGuide, Timeout) {
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("a\nb\nc"));
  EXPECT_EQ(rt.block_on(count_lines(std::move(server))), 2);
}

}  // namespace io_guide
