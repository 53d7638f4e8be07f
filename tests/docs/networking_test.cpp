// The code in docs/guide/11_networking.md that is in no example.
#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

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
