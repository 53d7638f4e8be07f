// The example echo_server and clients that others wrote: socat and netcat.
#include <csignal>
#include <string>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class EchoServer : public Counterpart {
 protected:
  /// The shell command gets its input from `in`; what it says must equal that.
  static void expect_echo(const std::string& command, const std::string& sent) {
    const TempDirectory files;
    files.write("in", sent);
    const Ended ended =
        run_shell("exec " + command + " <" + files.file("in") + " >" + files.file("out"));
    EXPECT_EQ(ended.status, 0);
    EXPECT_TRUE(files.read("out") == sent) << "the echo differs from what was sent";
  }
};

TEST_F(EchoServer, GivesBackAMegabyteToSocat) {
  const std::string socat = program("socat");
  const std::string echo_server = built_example("echo_server");
  if (IsSkipped()) return;
  Program server({echo_server, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();
  // After the end of its input socat waits this long for more of the echo.
  expect_echo(socat + " -t 30 - TCP:" + at.to_string(), noise(1 << 20));
  // And it still serves the next one.
  expect_echo(socat + " -t 30 - TCP:" + at.to_string(), "one more\n");
}

TEST_F(EchoServer, GivesBackLinesToNetcat) {
  const std::string netcat = program("nc");
  const std::string echo_server = built_example("echo_server");
  if (IsSkipped()) return;
  Program server({echo_server, "127.0.0.1:0"});
  const std::string port = std::to_string(server.listening_on().port());
  // -N: shuts its side down at the end of the input, and reads the rest of the echo.
  expect_echo(netcat + " -N 127.0.0.1 " + port, "hello\nworld\n");
  // -q: it does not, and waits so many seconds for more, which the test does not.
  const TempDirectory files;
  files.write("in", "hello again\n");
  Program client(
      {"/bin/sh", "-c", "exec " + netcat + " -q 60 127.0.0.1 " + port + " <" + files.file("in")});
  EXPECT_EQ(client.line(), "hello again");
}

TEST_F(EchoServer, ServesManyAtOnceAndOneThatIsResetHurtsNoOther) {
  const std::string echo_server = built_example("echo_server");
  if (IsSkipped()) return;
  Program server({echo_server, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();

  auto exchange = [](net::SocketAddr where, std::uint64_t seed) -> Async<bool> {
    auto stream = co_await net::TcpStream::connect(where);
    const std::string sent = noise(10'000, seed);
    std::string got(sent.size(), '\0');
    co_await try_join(stream.write_all(sent), stream.read_exact(got));
    co_return sent == got;
  };
  auto all = [&]() -> Async<void> {
    auto broken = co_await net::TcpStream::connect(at);
    co_await broken.write_all("x");
    broken.set_linger(std::chrono::seconds(0));  // closing it resets the connection
    JoinSet<bool> clients;
    for (std::uint64_t seed = 0; seed < 100; ++seed) clients.spawn(exchange, at, seed);
    {
      const net::TcpStream closed = std::move(broken);
    }
    while (auto equal = co_await clients.join_next()) EXPECT_TRUE(*equal);
  };
  run(all());
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait().status, -SIGTERM) << "it should have served on until it was told to end";
}

}  // namespace
}  // namespace rouse::test
