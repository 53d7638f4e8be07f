// What sockets and pipes wait for, as a dump sees it.
#include <array>
#include <chrono>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/future/pending_forever.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/net/pipe.hpp"
#include "rouse/net/serve.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/net/udp_message.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/net/unix_datagram.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

#include "net/connect.hpp"
#include "net/native_address.hpp"
#include "net/support.hpp"
#include "support/shape_text.hpp"
#include "sys/socket.hpp"

namespace rouse::net {
namespace {

using test::ShapeText;
using namespace std::chrono_literals;

class NetShape : public ::testing::Test {
 protected:
  /// Polls once.
  template <class F>
  static ShapeText shape(F& future) {
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    return ShapeText(future);
  }
  /// The same; its first leaf must be that descriptor.
  template <class F>
  static std::string shape_of_fd(int fd, F future) {
    const ShapeText found = shape(future);
    EXPECT_EQ(found.kind(0), sight::Wait::descriptor);
    EXPECT_EQ(found.field<int>(0), fd);
    return found.text();
  }

  Runtime rt = Runtime::builder().current_thread().build();
  EnterGuard inside = rt.enter();
  std::array<char, 16> buf{};
  const std::string more_than_fits = std::string(std::size_t{1} << 24U, 'x');
};

TEST_F(NetShape, AUnixStreamEndsAtItsDescriptor) {
  auto [here, there] = UnixStream::pair();
  const int fd = here.fd();
  EXPECT_EQ(shape_of_fd(fd, here.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, here.peek(buf)), "peek(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, here.readable()), "ready(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, here.write_all(more_than_fits)), "write_all(descriptor)");
  io::BufReader reader(here);
  EXPECT_EQ(shape_of_fd(fd, reader.read(buf)), "read(descriptor)");
}

TEST_F(NetShape, ListenersAndTcpStreamsEndAtTheirDescriptors) {
  TcpListener listener = rt.block_on(TcpListener::bind("127.0.0.1:0"));
  EXPECT_EQ(shape_of_fd(listener.fd(), listener.accept()), "accept(descriptor)");
  Incoming incoming = listener.incoming();
  EXPECT_EQ(shape_of_fd(listener.fd(), incoming.next()), "accept(descriptor)");
  TcpStream stream = rt.block_on(TcpStream::connect(listener.local_addr()));
  EXPECT_EQ(shape_of_fd(stream.fd(), stream.read(buf)), "read(descriptor)");
  UnixListener other = rt.block_on(UnixListener::bind("@rouse-shape-" + own_loopback()));
  EXPECT_EQ(shape_of_fd(other.fd(), other.accept()), "accept(descriptor)");
}

TEST_F(NetShape, TheHalvesOfAConnectionEndAtItsDescriptor) {
  auto [here, there] = UnixStream::pair();
  const int fd = here.fd();
  auto [reader, writer] = std::move(here).split();
  EXPECT_EQ(shape_of_fd(fd, reader.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, writer.write_all(more_than_fits)), "write_all(descriptor)");
}

TEST_F(NetShape, DatagramSocketsEndAtTheirDescriptors) {
  UdpSocket socket = rt.block_on(UdpSocket::bind("127.0.0.1:0"));
  const int fd = socket.fd();
  EXPECT_EQ(shape_of_fd(fd, socket.recv(buf)), "recv(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, socket.recv_from(buf)), "recv_from(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, socket.peek_from(buf)), "recv_from(descriptor)");
  EXPECT_EQ(shape_of_fd(fd, recv_message(socket, buf)), "async_io(descriptor)");
  DatagramBatch batch(4, 16);
  EXPECT_EQ(shape_of_fd(fd, socket.recv_many(batch)), "recv_many(descriptor)");
  const SendMany sending = socket.send_many(batch);
  const ShapeText send_many(sending);
  EXPECT_EQ(send_many.text(), "send_many(descriptor)");
  EXPECT_EQ(send_many.field<int>(0), fd);
  const DatagramSendTo to_itself = socket.send_to("x", socket.local_addr());
  const ShapeText send_to(to_itself);
  EXPECT_EQ(send_to.text(), "send_to(descriptor)");
  EXPECT_EQ(send_to.field<int>(0), fd);
}

TEST_F(NetShape, ADatagramWithoutRoomWaitsForADescriptorAndMaybeForATime) {
  auto [here, there] = UnixDatagram::pair();
  while (here.try_send("x")) {
  }
  EXPECT_EQ(shape_of_fd(here.fd(), here.send("x")), "send(descriptor, sleep)");
  EXPECT_EQ(shape_of_fd(here.fd(), here.recv_from(buf)), "recv_from(descriptor)");
}

TEST_F(NetShape, TheEndsOfAPipeEndAtTheirDescriptors) {
  auto [sender, receiver] = pipe::pipe();
  EXPECT_EQ(shape_of_fd(receiver.fd(), receiver.read(buf)), "read(descriptor)");
  EXPECT_EQ(shape_of_fd(sender.fd(), sender.write_all(more_than_fits)), "write_all(descriptor)");
}

/// A listener whose queue is full: the system drops who knocks.
class ShapeSilent {
 public:
  ShapeSilent() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sys::bind(listener_.get(), to_native(SocketAddr::parse(own_loopback()).value())).value();
    sys::listen(listener_.get(), 0).value();
    address = from_native(sys::local_address(listener_.get()).value()).value();
    for (auto& waits : queue_) {
      waits = io::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)sys::connect(waits.get(), to_native(address)).value();
    }
  }
  SocketAddr address;

 private:
  io::OwnedFd listener_;
  std::array<io::OwnedFd, 4> queue_;
};

TEST_F(NetShape, AConnectWaitsForEachAttemptThatHasBegunAndForTheTimeOfTheNext) {
  const ShapeSilent silent;
  auto one = connect_to_first({silent.address});
  EXPECT_EQ(shape(one).text(), "async_io(descriptor) @3");
  auto two = connect_to_first({silent.address, silent.address});
  const ShapeText begun = shape(two);
  EXPECT_EQ(begun.text(), "connect(async_io(descriptor) @2, sleep) @1");
  EXPECT_GT(begun.field<time::Instant>(1), time::now());
  // The first one has no address of a kind that can be connected to.
  auto last = connect_to_first({SocketAddr::parse("unix:/x").value(), silent.address});
  EXPECT_EQ(shape(last).text(), "connect(async_io(descriptor) @2) @1");
}

Async<void> shape_never(UnixStream) { co_await pending_forever<void>(); }

Async<std::string> shape_of_serving(ServeLimits limits, bool stops) {
  UnixListener listener = co_await UnixListener::bind("@rouse-shape-serve-" + own_loopback());
  const SocketAddr at = listener.local_addr();
  const sync::CancellationToken stop = limits.stop;
  auto serving = serve(std::move(listener), shape_never, std::move(limits));
  Context cx(Waker::noop());
  EXPECT_TRUE(serving.poll(cx).is_pending());
  const UnixStream peer = co_await UnixStream::connect(at);
  while (ShapeText(serving).text().find("task") == std::string::npos) {
    co_await sleep(1ms);
    EXPECT_TRUE(serving.poll(cx).is_pending());
  }
  if (stops) {
    stop.cancel();
    EXPECT_TRUE(serving.poll(cx).is_pending());
  }
  co_return ShapeText(serving).text();
}

TEST_F(NetShape, AServerWaitsForItsListenerItsConnectionsAndItsEnd) {
  EXPECT_EQ(rt.block_on(shape_of_serving({}, false)),
            "serve(CancellationToken, descriptor, FuturesUnordered(task)) @1");
  EXPECT_EQ(rt.block_on(shape_of_serving({}, true)), "serve(FuturesUnordered(task), sleep) @1");
}

}  // namespace
}  // namespace rouse::net
