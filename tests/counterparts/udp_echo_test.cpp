// The example udp_echo, and socat as its client.
#include <array>
#include <csignal>
#include <string>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class UdpEcho : public Counterpart {};

TEST_F(UdpEcho, GivesBackDatagramsOfAllSizesUntilCtrlC) {
  const std::string udp_echo = built_example("udp_echo");
  if (IsSkipped()) return;
  Program server({udp_echo, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();
  auto exchange = [at]() -> Async<void> {
    auto socket = co_await net::UdpSocket::bind("127.0.0.1:0");
    std::array<char, 65536> buf;
    for (const std::size_t size : {0U, 1U, 1000U, 60'000U}) {
      const std::string sent = noise(size);
      co_await socket.send_to(sent, at);
      const net::Received received = co_await socket.recv_from(buf);
      EXPECT_EQ(received.from, at);
      EXPECT_TRUE(std::string_view(buf.data(), received.size) == sent) << size << " bytes";
    }
  };
  run(exchange());
  server.send_signal(SIGINT);
  const Ended ended = server.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "bye\n");
}

TEST_F(UdpEcho, AnswersSocat) {
  const std::string socat = program("socat");
  const std::string udp_echo = built_example("udp_echo");
  if (IsSkipped()) return;
  Program server({udp_echo, "127.0.0.1:0"});
  const std::string at = server.listening_on().to_string();
  const TempDirectory files;
  files.write("in", "hello\n");
  // A datagram does not say that it was the last: socat would wait for more, and is ended.
  Program client(
      {"/bin/sh", "-c", "exec " + socat + " -t 60 - UDP:" + at + " <" + files.file("in")});
  EXPECT_EQ(client.line(), "hello");
}

}  // namespace
}  // namespace rouse::test
