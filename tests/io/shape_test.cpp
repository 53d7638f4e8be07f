// What readers, writers and all that is made of them wait for, as a dump sees it.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/async_fd.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/copy.hpp"
#include "rouse/io/copy_bidirectional.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/framed_duplex.hpp"
#include "rouse/io/lines_codec.hpp"
#include "rouse/io/numbers.hpp"
#include "rouse/io/reader_stream.hpp"
#include "rouse/io/seek.hpp"
#include "rouse/io/simplex.hpp"
#include "rouse/io/sources.hpp"
#include "rouse/io/split.hpp"
#include "rouse/io/stdio.hpp"
#include "rouse/io/stream_reader.hpp"
#include "rouse/io/take.hpp"
#include "rouse/runtime/runtime.hpp"

#include "support/shape_text.hpp"

namespace rouse::io {
namespace {

using test::ShapeText;

/// Both ends of a socket, neither of which can be read or written: nothing was sent, and there is
/// no room.
struct ShapeSockets {
  ShapeSockets() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
      std::abort();
    near = OwnedFd(ends[0]);
    far = OwnedFd(ends[1]);
    const std::array<char, 4096> bytes{};
    while (::write(near.get(), bytes.data(), bytes.size()) > 0) {
    }
  }
  OwnedFd near;
  OwnedFd far;
};

/// A stream as a user may write one.
class ShapeStream : public ReadMembers<ShapeStream>, public WriteMembers<ShapeStream> {
 public:
  explicit ShapeStream(OwnedFd fd) : io_(std::move(fd)) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return io_.poll_io(cx, Interest::readable,
                       [&] { return ::read(io_.fd(), buf.data(), buf.size()); });
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return io_.poll_io(cx, Interest::writable,
                       [&] { return ::write(io_.fd(), data.data(), data.size()); });
  }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_shutdown(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  [[nodiscard]] int fd() const { return io_.fd(); }
  [[nodiscard]] const AsyncFd& io() const { return io_; }
  ROUSE_SHAPE(ShapeStream, nullptr, one, &ShapeStream::io_)

 private:
  AsyncFd io_;
};

/// A stream that only seeks, and never ends that.
struct ShapeSeeker {
  static Result<void> start_seek(SeekFrom) { return {}; }
  static Poll<Result<std::uint64_t>> poll_complete(Context&) { return pending; }
};

/// Polls once.
template <class F>
ShapeText shape_once(F& future) {
  Context cx(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_pending());
  return ShapeText(future);
}

class IoShape : public ::testing::Test {
 protected:
  /// What it waits for; its leaves must be the stream's descriptor.
  template <class F>
  std::string shape(F future) {
    const ShapeText found = shape_once(future);
    for (std::size_t i = 0; i < found.leaves(); ++i) {
      EXPECT_EQ(found.kind(i), sight::Wait::descriptor);
      EXPECT_EQ(found.field<int>(i), fd);
    }
    return found.text();
  }

  Runtime rt = Runtime::builder().current_thread().build();
  EnterGuard inside = rt.enter();
  ShapeSockets sockets;
  ShapeStream stream{std::move(sockets.near)};
  const int fd = stream.fd();
  std::array<std::byte, 16> memory{};
  BufferMut buf{memory};
  std::array<BufferMut, 1> bufs{buf};
  std::array<Buffer, 1> data{Buffer(memory)};
};

TEST_F(IoShape, ReadingEndsAtTheDescriptor) {
  std::string out;
  EXPECT_EQ(shape(stream.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape(stream.read(buf).result()), "read(descriptor)");
  EXPECT_EQ(shape(stream.readv(bufs)), "readv(descriptor)");
  EXPECT_EQ(shape(stream.read_exact(buf)), "read_exact(descriptor)");
  EXPECT_EQ(shape(stream.read_to_end(out)), "read_to_end(descriptor)");
  EXPECT_EQ(shape(stream.read_to_string()), "read_to_string(descriptor)");
  EXPECT_EQ(shape(read_u32(stream)), "read_number(descriptor)");
}

TEST_F(IoShape, WritingEndsAtTheDescriptor) {
  EXPECT_EQ(shape(stream.write(data[0])), "write(descriptor)");
  EXPECT_EQ(shape(stream.writev(data)), "writev(descriptor)");
  EXPECT_EQ(shape(stream.write_all(data[0])), "write_all(descriptor)");
  EXPECT_EQ(shape(stream.write_all_vectored(data)), "write_all_vectored(descriptor)");
  EXPECT_EQ(shape(write_u16(stream, 7)), "write_number(descriptor)");
  BufWriter writer(stream);
  Context cx(Waker::noop());
  EXPECT_TRUE(writer.poll_write(cx, data[0]).is_ready());
  EXPECT_EQ(shape(writer.flush()), "flush(descriptor)");
  EXPECT_EQ(shape(writer.shutdown()), "shutdown(descriptor)");
}

TEST_F(IoShape, ReadinessNamesTheDescriptor) {
  EXPECT_EQ(shape(stream.io().readable()), "ready(descriptor)");
  EXPECT_EQ(
      shape(stream.io().async_io(Interest::readable, [&] { return ::read(fd, memory.data(), 1); })),
      "async_io(descriptor)");
}

TEST_F(IoShape, ACopyWaitsForItsReaderOrItsWriter) {
  Sink nowhere;
  EXPECT_EQ(shape(copy(stream, nowhere)), "copy(descriptor)");
  BytesReader bytes(data[0]);
  EXPECT_EQ(shape(copy(bytes, stream)), "copy(descriptor)");
  EXPECT_EQ(shape(copy(stream, stream)), "copy(descriptor, descriptor)");
  BufReader reader(stream);
  EXPECT_EQ(shape(copy_buf(reader, nowhere)), "copy(descriptor)");
  EXPECT_EQ(shape(copy_bidirectional(stream, stream)),
            "copy_bidirectional(descriptor, descriptor)");
}

TEST_F(IoShape, AnAdapterThatBorrowsIsNotNamed) {
  static_assert(sizeof(internal::Held<ShapeStream>) == sizeof(ShapeStream));
  static_assert(sizeof(internal::Held<ShapeStream&>) == sizeof(void*));
  BufReader reader(stream);
  EXPECT_EQ(shape(reader.read(buf)), "read(descriptor)");
  std::string line;
  EXPECT_EQ(shape(reader.read_line(line)), "read_until(descriptor)");
  Lines lines = reader.lines();
  EXPECT_EQ(shape(lines.next_line()), "next_line(descriptor)");
  EXPECT_EQ(shape(lines.next()), "descriptor");
  BufStream both(stream);
  EXPECT_EQ(shape(both.read(buf)), "read(descriptor)");
  auto first = take(stream, 7);
  EXPECT_EQ(shape(first.read(buf)), "read(descriptor)");
  auto all = chain(Empty(), stream);
  EXPECT_EQ(shape(all.read(buf)), "read(chain(descriptor))");
  ReaderStream chunks(stream);
  EXPECT_EQ(shape(chunks.next()), "descriptor");
  StreamReader body(chunks);
  EXPECT_EQ(shape(body.read(buf)), "read(descriptor)");
}

TEST_F(IoShape, AnAdapterThatOwnsIsNotNamed) {
  StreamReader body(ReaderStream(take(BufReader(BufStream(std::move(stream))), 7)));
  EXPECT_EQ(shape(body.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape(std::move(body).lines().next_line()), "next_line(descriptor)");
}

TEST_F(IoShape, FramesEndAtTheDescriptor) {
  Framed peer(stream, LinesCodec());
  EXPECT_EQ(shape(peer.next()), "descriptor");
  EXPECT_EQ(shape(peer.send("a line")), "send(descriptor)");
  EXPECT_EQ(shape(peer.flush()), "flush(descriptor)");
  FramedWrite writer(stream, LinesCodec());
  EXPECT_EQ(shape(writer.send("a line")), "send(descriptor)");
  FramedRead reader(stream, LinesCodec());
  EXPECT_EQ(shape(reader.next()), "descriptor");
  auto [frames_in, frames_out] = Framed(std::move(stream), LinesCodec()).split();
  EXPECT_EQ(shape(frames_in.next()), "descriptor");
  EXPECT_EQ(shape(frames_out.send("a line")), "send(descriptor)");
}

TEST_F(IoShape, TheHalvesOfAStreamEndAtItsDescriptor) {
  auto [reader, writer] = split(std::move(stream));
  EXPECT_EQ(shape(reader.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape(writer.write_all(data[0])), "write_all(descriptor)");
}

TEST_F(IoShape, TheEndsOfAPipeInMemoryShareIt) {
  auto [reader, writer] = simplex(1);
  auto reading = reader.read(buf);
  const ShapeText receiver = shape_once(reading);
  EXPECT_EQ(receiver.text(), "read(pipe)");
  EXPECT_EQ(receiver.kind(0), sight::Wait::receive);
  auto writing = writer.write_all(data[0]);
  const ShapeText sender = shape_once(writing);
  EXPECT_EQ(sender.text(), "write_all(pipe)");
  EXPECT_EQ(sender.kind(0), sight::Wait::send);
  EXPECT_NE(sender.field<const void*>(0), nullptr);
  EXPECT_EQ(sender.field<const void*>(0), receiver.field<const void*>(0));
}

TEST_F(IoShape, TheEndsOfADuplexShareAPipeEachWay) {
  auto [client, server] = duplex(1);
  auto reading = client.read(buf);
  const ShapeText reader = shape_once(reading);
  EXPECT_EQ(reader.text(), "read(duplex)");
  EXPECT_EQ(reader.kind(0), sight::Wait::notify);
  auto writing = server.write_all(data[0]);
  const ShapeText writer = shape_once(writing);
  EXPECT_EQ(writer.text(), "write_all(duplex)");
  EXPECT_NE(reader.field<const void*>(0, 0), reader.field<const void*>(0, 1));
  EXPECT_EQ(reader.field<const void*>(0, 0), writer.field<const void*>(0, 1));
  EXPECT_EQ(reader.field<const void*>(0, 1), writer.field<const void*>(0, 0));
}

TEST_F(IoShape, ReadersOfMemoryNameNothing) {
  BytesReader bytes("text");
  Repeat same = repeat(std::byte{7});
  EXPECT_EQ(ShapeText(bytes.read(buf)).text(), "read()");
  EXPECT_EQ(ShapeText(same.read(buf)).text(), "read()");
}

TEST_F(IoShape, ASeekNamesWhatSeeks) {
  ShapeSeeker seeker;
  auto seeking = seek(seeker, SeekFrom::start(0));
  EXPECT_EQ(shape_once(seeking).text(), "seek(?)");
}

bool shape_is_the_same_file(int one, int other) {
  struct stat a{};
  struct stat b{};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

TEST_F(IoShape, AStandardStreamNamesItsOwnDescriptorOfThePipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd out(ends[0]);
  const OwnedFd in(ends[1]);
  Stdin input(out.get());
  auto reading = input.read(buf);
  const ShapeText reader = shape_once(reading);
  EXPECT_EQ(reader.text(), "read(descriptor)");
  EXPECT_TRUE(shape_is_the_same_file(reader.field<int>(0), out.get()));
  Stdout output(in.get());
  const std::vector<std::byte> more_than_fits(std::size_t{1} << 20U);
  auto writing = output.write_all(more_than_fits);
  const ShapeText writer = shape_once(writing);
  EXPECT_EQ(writer.text(), "write_all(descriptor)");
  EXPECT_TRUE(shape_is_the_same_file(writer.field<int>(0), in.get()));
}

}  // namespace
}  // namespace rouse::io
