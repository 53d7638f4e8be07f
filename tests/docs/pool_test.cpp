// Compiles and checks the snippets on Pool of docs/guide/11_networking.md.
#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/all.hpp>

namespace pool_guide {
namespace {

using namespace std::chrono_literals;
namespace io = rouse::io;
namespace net = rouse::net;

// [manager]
using Connection = io::BufStream<net::TcpStream>;

class EchoServers {
 public:
  explicit EchoServers(net::SocketAddr address) : address_(std::move(address)) {}

  rouse::Async<Connection> connect() {
    co_return Connection(co_await rouse::timeout(1s, net::TcpStream::connect(address_)));
  }

 private:
  net::SocketAddr address_;
};
// [/manager]

// [borrower]
rouse::Async<std::string> ask(rouse::Pool<EchoServers> pool, std::string question) {
  auto connection = co_await pool.take();
  co_await connection->write_all(question + "\n");
  co_await connection->flush();
  std::string answer;
  co_await connection->read_line(answer);
  connection.mark_clean();  // the whole answer is read: the next borrower may have it
  co_return answer;
}
// [/borrower]

rouse::Async<void> serve(net::TcpListener listener) {
  auto [peer, from] = co_await listener.accept();
  auto [reading, writing] = io::split(std::move(peer));
  co_await io::copy(reading, writing);
}

TEST(PoolGuide, ConnectionsAreUsedAgain) {
  rouse::run([]() -> rouse::Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const net::SocketAddr address = listener.local_addr();
    rouse::spawn(serve, std::move(listener)).detach();  // accepts one connection only
    // [pool]
    rouse::Pool<EchoServers> pool(EchoServers(address), rouse::PoolOptions().max_open(20));
    EXPECT_EQ(co_await ask(pool, "who?"), "who?\n");
    EXPECT_EQ(co_await ask(pool, "where?"), "where?\n");
    EXPECT_EQ(pool.metrics().opened, 1);
    // [/pool]
  });
}

}  // namespace
}  // namespace pool_guide
