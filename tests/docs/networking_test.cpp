// The code in docs/guide/11_networking.md that is in no example.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/net/pipe.hpp>
#include <rouse/net/sock_ref.hpp>
#include <rouse/net/udp_message.hpp>
#include <rouse/rouse.hpp>

namespace networking_guide {

namespace net = rouse::net;

// [server]
rouse::Async<void> echo(net::TcpStream peer) {
  std::array<char, 4096> buf;
  while (const std::size_t n = co_await peer.read(buf)) {  // 0: the other side has ended
    co_await peer.write_all({buf.data(), n});
  }
}

rouse::Async<void> serve(net::TcpListener listener) {
  for (;;) {
    auto [peer, from] = co_await listener.accept();
    rouse::spawn(echo, std::move(peer)).detach();
  }
}
// [/server]

// [client]
rouse::Async<std::string> ask(net::SocketAddr server, std::string question) {
  auto peer = co_await net::TcpStream::connect(server);
  co_await peer.write_all(question);
  co_await peer.shutdown();  // the server reads its end; we may still read
  co_return co_await peer.read_to_string();
}
// [/client]

// [split]
rouse::Async<void> send_lines(net::OwnedWriteHalf<net::TcpStream> writer) {
  for (int i = 0; i < 3; ++i) co_await writer.write_all("line\n");
}  // the write half goes: the peer reads end of file

rouse::Async<std::string> send_and_receive(net::TcpStream stream) {
  auto [reader, writer] = std::move(stream).split();
  auto sending = rouse::spawn(send_lines, std::move(writer));
  std::string answer = co_await reader.read_to_string();
  co_await sending;
  co_return answer;
}
// [/split]

// [own-call]
rouse::Async<std::size_t> peek_of_its_own(net::TcpStream& peer) {
  std::array<char, 16> buf;
  co_return co_await peer.async_io(rouse::io::Interest::readable, [&] {
    return ::recv(peer.fd(), buf.data(), buf.size(), MSG_PEEK);  // -1 and EAGAIN: waits
  });
}
// [/own-call]

TEST(NetworkingGuide, HalvesAndCallsOfOnesOwn) {
  rouse::Runtime rt = rouse::Runtime::builder().worker_threads(2).build();
  auto listener = rt.block_on(net::TcpListener::bind("127.0.0.1:0"));
  const net::SocketAddr address = listener.local_addr();
  auto server = rt.spawn(serve, std::move(listener));
  EXPECT_EQ(rt.block_on(send_and_receive(rt.block_on(net::TcpStream::connect(address)))),
            "line\nline\nline\n");
  auto peer = rt.block_on(net::TcpStream::connect(address));
  rt.block_on(peer.write_all("abc"));
  EXPECT_GE(rt.block_on(peek_of_its_own(peer)), 1U);
  server.abort();
}

TEST(NetworkingGuide, EchoServer) {
  rouse::Runtime rt = rouse::Runtime::builder().worker_threads(2).build();
  auto listener = rt.block_on(net::TcpListener::bind("127.0.0.1:0"));
  const net::SocketAddr address = listener.local_addr();
  auto server = rt.spawn(serve, std::move(listener));
  EXPECT_EQ(rt.block_on(ask(address, "hello")), "hello");
  server.abort();
}

TEST(NetworkingGuide, Addresses) {
  // [addresses]
  net::SocketAddr web(net::IpAddr::loopback(), 80);
  EXPECT_EQ(web.to_string(), "127.0.0.1:80");
  EXPECT_EQ(net::SocketAddr::parse("[::1]:80").value().ip(), net::IpAddr::loopback_v6());
  EXPECT_EQ(net::SocketAddr::parse("localhost:80").error(), net::Error::bad_ip);  // a name
  // [/addresses]
}

// [options]
net::TcpListener listen_with_options() {
  auto socket = net::TcpSocket::v4();
  socket.set_reuseaddr(true);
  socket.set_recv_buffer_size(1 << 20);  // inherited by the connections
  socket.bind("127.0.0.1:0");
  return std::move(socket).listen(128);
}
// [/options]

TEST(NetworkingGuide, Options) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  const auto here = rt.enter();
  EXPECT_NE(listen_with_options().local_addr().port(), 0);
}

TEST(NetworkingGuide, SockRef) {
  // [sock-ref]
  auto socket = net::TcpSocket::v4();
  net::SockRef(socket).set_user_timeout(std::chrono::seconds(10));
  net::SockRef(socket).set_tos(0x10);  // low delay
  // [/sock-ref]
  EXPECT_EQ(net::SockRef(socket).tos(), 0x10);
}

// [fifo]
rouse::Async<std::string> first_message(std::string path) {
  auto receiver = net::pipe::OpenOptions().read_write(true).open_receiver(path).value();
  std::array<char, 4096> buf;
  const std::size_t size = co_await receiver.read(buf);
  co_return std::string(buf.data(), size);
}

rouse::Async<void> send_message(std::string path) {
  auto sender = net::pipe::OpenOptions().open_sender(path).value();
  co_await sender.write_all("hello");
}
// [/fifo]

TEST(NetworkingGuide, Fifo) {
  const std::string path = "/tmp/rouse-guide-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  const auto received = rt.block_on([](std::string at) -> rouse::Async<std::string> {
    auto receiving = rouse::spawn(first_message, at);
    co_await rouse::yield_now();  // it has opened the FIFO
    co_await send_message(at);
    co_return co_await std::move(receiving);
  }(path));
  EXPECT_EQ(received, "hello");
  ::unlink(path.c_str());
}

// [udp]
rouse::Async<void> answer_one(net::UdpSocket& socket) {
  std::array<char, 1500> buf;
  auto [size, from] = co_await socket.recv_from(buf);
  co_await socket.send_to({buf.data(), size}, from);
}

rouse::Async<std::string> ask_udp(net::SocketAddr server) {
  auto socket = co_await net::UdpSocket::bind("127.0.0.1:0");
  co_await socket.connect(server);
  co_await socket.send("ping");
  std::array<char, 1500> buf;
  const std::size_t size = co_await socket.recv(buf);
  co_return std::string(buf.data(), size);
}
// [/udp]

TEST(NetworkingGuide, Udp) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  auto socket = rt.block_on(net::UdpSocket::bind("127.0.0.1:0"));
  const net::SocketAddr server = socket.local_addr();
  auto [none, answer] = rt.block_on(rouse::join(answer_one(socket), ask_udp(server)));
  (void)none;
  EXPECT_EQ(answer, "ping");
}

// [udp-message]
rouse::Async<void> answer_from_the_same_address(net::UdpSocket& socket) {
  net::set_packet_info(socket, true);
  std::array<char, 1500> buf;
  const net::RecvMeta meta = co_await net::recv_message(socket, buf);
  net::Transmit answer(rouse::io::Buffer(buf.data(), meta.size));
  answer.to = meta.from;
  answer.from = meta.to;  // else the system chooses one of ours
  co_await net::send_message(socket, answer);
}
// [/udp-message]

TEST(NetworkingGuide, UdpMessage) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  auto server = rt.block_on(net::UdpSocket::bind("0.0.0.0:0"));
  const net::SocketAddr at(net::IpAddr(127, 0, 0, 2), server.local_addr().port());
  auto both = rouse::join(ask_udp(at), answer_from_the_same_address(server));
  EXPECT_EQ(std::get<0>(rt.block_on(std::move(both))), "ping");
}

// [batch]
rouse::Async<std::size_t> receive_bytes(net::UdpSocket& socket, std::size_t datagrams) {
  net::DatagramBatch batch(64, 1500);  // room for 64 of up to 1500 bytes
  std::size_t bytes = 0;
  for (std::size_t seen = 0; seen < datagrams; seen += batch.size()) {
    co_await socket.recv_many(batch);  // at least one
    for (const auto& datagram : batch) {
      if (!datagram.truncated()) bytes += datagram.data().size();
    }
  }
  co_return bytes;
}

rouse::Async<void> send_ten(net::UdpSocket& socket, net::SocketAddr to) {
  net::DatagramBatch batch(10, 1500);
  while (batch.push("tick", to)) {
  }
  co_await socket.send_many(batch);  // all ten
}
// [/batch]

TEST(NetworkingGuide, Batch) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  auto socket = rt.block_on(net::UdpSocket::bind("127.0.0.1:0"));
  rt.block_on(send_ten(socket, socket.local_addr()));
  EXPECT_EQ(rt.block_on(receive_bytes(socket, 10)), 40U);
}

// [unix]
rouse::Async<void> greet(net::UnixListener& listener) {
  auto [peer, from] = co_await listener.accept();
  const net::PeerCred who = peer.peer_cred();  // the kernel's word: pid, uid, gid
  const std::string greeting = "hello, user " + std::to_string(who.uid);
  co_await peer.write_all(greeting);
}

rouse::Async<std::string> be_greeted(std::string name) {
  auto peer = co_await net::UnixStream::connect(name);  // "/run/app.sock", or "@app"
  co_return co_await peer.read_to_string();
}
// [/unix]

TEST(NetworkingGuide, Unix) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  const std::string name = "@rouse-guide-" + std::to_string(::getpid());
  auto listener = rt.block_on(net::UnixListener::bind(name));
  auto [none, greeting] = rt.block_on(rouse::join(greet(listener), be_greeted(name)));
  (void)none;
  EXPECT_EQ(greeting, "hello, user " + std::to_string(::getuid()));
}

// [errors]
rouse::Async<std::string> fetch(net::SocketAddr server) {
  rouse::Result<net::TcpStream> peer = co_await net::TcpStream::connect(server).result();
  if (!peer) {
    if (peer.error() == std::errc::connection_refused) co_return "nobody is there";
    throw std::system_error(peer.error());
  }
  co_return co_await peer->read_to_string();
}
// [/errors]

TEST(NetworkingGuide, Errors) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  net::SocketAddr nobody;
  {
    auto listener = rt.block_on(net::TcpListener::bind("127.0.0.1:0"));
    nobody = listener.local_addr();
  }
  EXPECT_EQ(rt.block_on(fetch(nobody)), "nobody is there");
}

}  // namespace networking_guide
