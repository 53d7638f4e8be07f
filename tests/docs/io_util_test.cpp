// The code in docs/guide/10_io.md whose parts have headers of their own.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/all.hpp>

namespace io_util_guide {

namespace io = rouse::io;

// [numbers]
rouse::Async<> send_point(io::SimplexWriter writer, std::uint16_t kind, double x) {
  io::BufWriter out(std::move(writer));
  co_await io::write_u16(out, kind);  // big endian, the network byte order
  co_await io::write_f64_le(out, x);  // little endian
  co_await out.flush();
}

rouse::Async<double> receive_point(io::SimplexReader reader) {
  io::BufReader in(std::move(reader));
  const std::uint16_t kind = co_await io::read_u16(in);
  const double x = co_await io::read_f64_le(in);
  co_return kind == 7 ? x : 0;
}
// [/numbers]

TEST(IoUtilGuide, Numbers) {
  auto [reader, writer] = io::simplex(64);
  rouse::block_on(send_point(std::move(writer), 7, 0.5));
  EXPECT_EQ(rouse::block_on(receive_point(std::move(reader))), 0.5);
}

// [read_buf]
rouse::Async<std::string> first_word(io::SimplexReader reader) {
  std::string received;
  while (received.find(' ') == std::string::npos) {
    const std::size_t n = co_await io::read_buf(reader, received);  // appends what is there
    if (n == 0 || received.size() > 1024) break;
  }
  co_return received.substr(0, received.find(' '));
}
// [/read_buf]

TEST(IoUtilGuide, ReadBuf) {
  auto [reader, writer] = io::simplex(64);
  rouse::block_on(writer.write_all("GET /"));
  EXPECT_EQ(rouse::block_on(first_word(std::move(reader))), "GET");
}

// [buf_stream]
rouse::Async<> greet(io::DuplexStream peer) {
  io::BufStream stream(std::move(peer));
  std::string name;
  while (co_await stream.read_line(name) != 0) {
    co_await stream.write_all("hello ");  // into the buffer
    co_await stream.write_all(name);
    co_await stream.flush();  // both at once
    name.clear();
  }
}
// [/buf_stream]

TEST(IoUtilGuide, BufStream) {
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("Ann\nBob\n"));
  rouse::block_on(client.shutdown());
  rouse::block_on(greet(std::move(server)));
  EXPECT_EQ(rouse::block_on(client.read_to_string()), "hello Ann\nhello Bob\n");
}

// [chunks]
rouse::Async<std::size_t> count_bytes(io::SimplexReader reader) {
  io::ReaderStream chunks(std::move(reader));
  std::size_t count = 0;
  while (const auto chunk = co_await chunks.next()) count += chunk->value().size();
  co_return count;
}

rouse::Async<std::string> first_line(std::vector<std::string> pieces) {
  io::StreamReader reader(rouse::stream::iter(std::move(pieces)));
  std::string line;
  co_await reader.read_line(line);
  co_return line;
}
// [/chunks]

TEST(IoUtilGuide, Chunks) {
  auto [reader, writer] = io::simplex(64);
  rouse::block_on(writer.write_all("12345"));
  rouse::block_on(writer.shutdown());
  EXPECT_EQ(rouse::block_on(count_bytes(std::move(reader))), 5U);
  EXPECT_EQ(rouse::block_on(first_line({"a l", "ine\nand", " more"})), "a line\n");
}

// [bridge]
/// Knows nothing of futures.
int sum_of_numbers(std::istream& in) {
  int sum = 0;
  for (int number = 0; in >> number;) sum += number;
  return sum;
}

rouse::Async<int> receive_sum(io::DuplexStream peer) {
  auto adding = rouse::spawn_blocking([peer = std::move(peer)]() mutable {
    io::SyncStreambuf buf(std::move(peer));
    std::istream in(&buf);
    const int sum = sum_of_numbers(in);
    io::SyncBridge(buf.inner()).write_all("done").value();
    return sum;
  });
  co_return co_await adding;
}
// [/bridge]

TEST(IoUtilGuide, Bridge) {
  rouse::Runtime rt;
  auto [client, server] = io::duplex(64);
  rt.block_on(client.write_all("1 2 39"));
  rt.block_on(client.shutdown());
  EXPECT_EQ(rt.block_on(receive_sum(std::move(server))), 42);
  EXPECT_EQ(rt.block_on(client.read_to_string()), "done");
}

// [framed]
rouse::Async<> echo_lines(io::DuplexStream stream) {
  io::Framed peer(std::move(stream), io::LinesCodec());
  while (const auto line = co_await peer.next()) {
    co_await peer.send("you said: " + line->value());
  }
}
// [/framed]

TEST(IoUtilGuide, Framed) {
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("hello\n"));
  rouse::block_on(client.shutdown());
  rouse::block_on(echo_lines(std::move(server)));
  EXPECT_EQ(rouse::block_on(client.read_to_string()), "you said: hello\n");
}

// [heads]
/// Kind (1 byte), flags (1 byte), length of everything (2 bytes); the frame has its head in it.
io::LengthDelimitedCodec packets() {
  return io::LengthDelimitedCodec()
      .length_field_offset(2)
      .length_field_length(2)
      .num_skip(0)
      .max_frame_length(1500);
}
// [/heads]

TEST(IoUtilGuide, Heads) {
  const std::string packet("KF\0\6ab", 6);
  io::FramedRead frames(io::BytesReader(packet), packets());
  const auto frame = rouse::block_on(frames.next());
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->size(), 6U);
}

// [own_codec]
/// A number in decimal, and a semicolon: "12;345;".
class NumbersCodec {
 public:
  using Frame = int;
  using Outgoing = int;

  static rouse::Result<std::optional<int>> decode(io::FrameBuffer& input) {
    const std::string_view text = as_text(input);
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos) {
      if (text.size() > 10) return io::Error::too_long;  // an endless number
      return std::optional<int>();                       // more bytes are needed
    }
    int number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, number);
    if (error != std::errc() || stop != text.data() + end) return io::Error::invalid_data;
    input.consume(end + 1);
    return std::optional<int>(number);
  }
  static rouse::Result<std::optional<int>> decode_end(io::FrameBuffer& input) {
    rouse::Result<std::optional<int>> number = decode(input);
    if (!number || *number || input.empty()) return number;
    return io::Error::unexpected_eof;  // the stream ended in a number
  }

  static rouse::Result<void> encode(int number, std::vector<std::byte>& output) {
    if (number < 0) return io::Error::invalid_data;
    for (const char c : std::to_string(number) + ';') output.push_back(static_cast<std::byte>(c));
    return {};
  }

 private:
  static std::string_view as_text(const io::FrameBuffer& input) {
    return {reinterpret_cast<const char*>(input.bytes().data()), input.size()};
  }
};
static_assert(io::Decoder<NumbersCodec> && io::Encoder<NumbersCodec>);

rouse::Async<> double_all(io::DuplexStream stream) {
  io::Framed numbers(std::move(stream), NumbersCodec());
  while (const auto number = co_await numbers.next()) {
    co_await numbers.send(2 * number->value());
  }
}
// [/own_codec]

TEST(IoUtilGuide, OwnCodec) {
  auto [client, server] = io::duplex(64);
  rouse::block_on(client.write_all("12;0;345;"));
  rouse::block_on(client.shutdown());
  rouse::block_on(double_all(std::move(server)));
  EXPECT_EQ(rouse::block_on(client.read_to_string()), "24;0;690;");
  for (const char* bad : {"1x;", ";", "99999999999;", "99999999999", "12"}) {
    io::BytesReader reader(bad);
    io::FramedRead numbers(reader, NumbersCodec());
    const auto number = rouse::block_on(numbers.next());
    EXPECT_TRUE(number && !*number) << bad;
  }
}

// [sink]
rouse::Async<> publish(std::vector<std::string> news, io::SimplexWriter subscriber,
                       rouse::sync::Sender<std::string> archive) {
  namespace stream = rouse::stream;
  io::FramedWrite lines(std::move(subscriber), io::LinesCodec());
  co_await stream::send(lines, "the news:");
  auto items = stream::iter(news);
  co_await stream::send_all(lines, items);  // flushed at the end
  co_await stream::close(lines);
  // Owns both, and closes the sink at the end.
  co_await stream::forward(stream::iter(std::move(news)),
                           rouse::sync::PollSender(std::move(archive)));
}
// [/sink]

TEST(IoUtilGuide, Sink) {
  auto [reader, writer] = io::simplex(64);
  auto [tx, rx] = rouse::sync::channel<std::string>(4);
  rouse::block_on(publish({"one", "two"}, std::move(writer), std::move(tx)));
  EXPECT_EQ(rouse::block_on(reader.read_to_string()), "the news:\none\ntwo\n");
  EXPECT_EQ(rouse::block_on(rx.recv()), "one");
  EXPECT_EQ(rouse::block_on(rx.recv()), "two");
  EXPECT_EQ(rouse::block_on(rx.recv()), std::nullopt);
}

// [seek]
rouse::Async<std::string> last_line(rouse::fs::File file) {
  io::BufReader reader(std::move(file));
  co_await io::seek(reader, io::SeekFrom::end(-8));
  std::string line;
  co_await reader.read_line(line);  // the rest of some line
  line.clear();
  co_await reader.read_line(line);
  co_return line;
}
// [/seek]

TEST(IoUtilGuide, Seek) {
  rouse::Runtime rt;
  const std::string path = ::testing::TempDir() + "io_util_guide";
  rt.block_on(rouse::fs::write(path, "first\nsecond\nlast\n"));
  EXPECT_EQ(rt.block_on(last_line(rt.block_on(rouse::fs::File::open(path)))), "last\n");
  rt.block_on(rouse::fs::remove_file(path));
}

// [any_connection]
/// One function, compiled once, for each kind of connection.
rouse::Async<std::string> first_line(io::AnyConnection peer) {
  io::BufReader reader(std::move(peer));
  std::string line;
  co_await reader.read_line(line);
  co_return line;
}

rouse::Async<std::string> greeting(std::string address) {
  if (address.starts_with("unix:"))
    co_return co_await first_line(co_await rouse::net::UnixStream::connect(address.substr(5)));
  co_return co_await first_line(co_await rouse::net::TcpStream::connect(address));
}
// [/any_connection]

TEST(IoUtilGuide, AnyConnection) {
  rouse::Runtime rt;
  auto serve_and_ask = []() -> rouse::Async<> {
    auto listener = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
    auto asking = rouse::spawn(greeting, listener.local_addr().to_string());
    auto accepted = co_await listener.accept();
    co_await accepted.stream.write_all("welcome\n");
    EXPECT_EQ(co_await asking, "welcome\n");
  };
  rt.block_on(serve_and_ask());
  auto [near, far] = io::duplex(64);
  rt.block_on(far.write_all("hello\n"));
  EXPECT_EQ(rt.block_on(first_line(std::move(near))), "hello\n");
}

}  // namespace io_util_guide
