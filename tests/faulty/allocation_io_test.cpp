// Every allocation of what turns streams of bytes into others fails once: see allocations.hpp.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/future/try_join.hpp"
#include "rouse/io/any_delimiter_codec.hpp"
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/bytes_codec.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/framed.hpp"
#include "rouse/io/framed_duplex.hpp"
#include "rouse/io/read_buf.hpp"
#include "rouse/io/reader_stream.hpp"
#include "rouse/io/stream_reader.hpp"
#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/poll_sender.hpp"

#include "faulty/allocations.hpp"

namespace rouse::faulty {
namespace {

const std::string some_text = "a text that is longer than a short one is";

Async<void> use_a_buf_stream() {
  auto [near, far] = io::duplex(4096);
  io::BufStream here(std::move(near));
  io::BufStream there(std::move(far));
  for (int i = 0; i < 4; ++i) {
    co_await here.write_all(some_text);
    co_await here.write_all("\n");
    co_await here.flush();
    std::string line;
    EXPECT_EQ(co_await there.read_line(line), some_text.size() + 1);
  }
}

Async<void> use_chunks() {
  const std::string all(1000, 'x');
  io::StreamReader reader(io::ReaderStream(io::BytesReader(all), 100));
  std::string read;
  while (co_await io::read_buf(reader, read) != 0) continue;
  EXPECT_EQ(read, all);
}

template <class Codec>
Async<void> send_frames(io::DuplexStream stream, Codec codec) {
  io::Framed peer(std::move(stream), codec);
  std::vector<std::string> texts(4, some_text);
  co_await stream::forward(stream::iter(std::move(texts)), peer);
}
template <class Codec>
Async<void> receive_frames(io::DuplexStream stream, Codec codec) {
  io::Framed peer(std::move(stream), codec);
  std::size_t size = 0;
  for (;;) {
    const auto frame = co_await peer.next();
    if (!frame) break;
    size += frame->value().size();
  }
  EXPECT_GE(size, 4 * some_text.size());
}
template <class Codec>
Async<void> use_frames_both_ways() {
  auto [near, far] = io::duplex(4096);
  co_await try_join(send_frames(std::move(near), Codec()), receive_frames(std::move(far), Codec()));
}

Async<void> use_a_poll_sender() {
  auto [tx, rx] = sync::channel<std::string>(8);
  std::vector<std::string> texts(4, some_text);
  co_await stream::forward(stream::iter(std::move(texts)), sync::PollSender(std::move(tx)));
  int count = 0;
  for (;;) {
    const auto received = co_await rx.recv();
    if (!received) break;
    ++count;
  }
  EXPECT_EQ(count, 4);
}

TEST(FaultyAllocation, StreamsOfBytesBecomeOthers) {
  try_each_allocation("a BufStream", use_a_buf_stream);
  try_each_allocation("chunks", use_chunks);
  try_each_allocation("lengths both ways", use_frames_both_ways<io::LengthDelimitedCodec>);
  try_each_allocation("lines both ways", use_frames_both_ways<io::LinesCodec>);
  try_each_allocation("delimiters both ways", use_frames_both_ways<io::AnyDelimiterCodec>);
  try_each_allocation("bytes both ways", use_frames_both_ways<io::BytesCodec>);
  try_each_allocation("a PollSender", use_a_poll_sender);
}

}  // namespace
}  // namespace rouse::faulty
