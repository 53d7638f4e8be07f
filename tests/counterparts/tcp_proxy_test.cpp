// The example tcp_proxy: between nginx and curl or wrk, and how it ends.
#include <chrono>
#include <csignal>
#include <string>

#include "counterparts/nginx.hpp"

namespace rouse::test {
namespace {

class ProxiedNginx : public WithNginx {};
class TcpProxy : public Counterpart {};

TEST_F(ProxiedNginx, GivesCurlTheSameTenMegabytes) {
  const std::string curl = program("curl");
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  const std::string content = noise(10 << 20);
  serve_file("large.bin", content);
  Program proxy({tcp_proxy, "127.0.0.1:0", nginx_address()});
  const std::string url = "http://" + proxy.listening_on().to_string() + "/large.bin";
  const Ended ended =
      run_program({curl, "--silent", "--show-error", "--fail", "--noproxy", "*", "--output",
                   files().file("first"), url, "--output", files().file("second"), url});
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(files().read("first") == content);
  EXPECT_TRUE(files().read("second") == content);
  proxy.send_signal(SIGINT);
  EXPECT_TRUE(proxy.wait().output.ends_with("passed on 1 connections, cut off 0\n"));
}

TEST_F(ProxiedNginx, GivesWrkNoErrorsAt64Connections) {
  const std::string wrk = program("wrk");
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  serve_file("hello.txt", "hello\n");
  Program proxy({tcp_proxy, "127.0.0.1:0", nginx_address()});
  const std::string url = "http://" + proxy.listening_on().to_string() + "/hello.txt";
  const Ended ended = run_program({wrk, "-t1", "-c64", "-d2s", "--timeout", "30s", url});
  EXPECT_EQ(ended.status, 0);
  const std::size_t requests = ended.output.find(" requests in ");
  ASSERT_NE(requests, std::string::npos) << ended.output;
  EXPECT_EQ(ended.output.find("Socket errors"), std::string::npos) << ended.output;
  EXPECT_EQ(ended.output.find("Non-2xx"), std::string::npos) << ended.output;
  proxy.send_signal(SIGINT);
  EXPECT_EQ(proxy.wait().status, 0);
}

/// A server that is a listener of the test, and the proxy before it.
struct Proxied {
  Proxied(const std::string& program, net::TcpListener listening)
      : target(std::move(listening)),
        proxy({program, "127.0.0.1:0", target.local_addr().to_string()}),
        address(proxy.listening_on()) {}
  net::TcpListener target;
  Program proxy;
  net::SocketAddr address;
};

TEST_F(TcpProxy, PassesTheEndOfEachDirectionOn) {
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  Proxied proxied(tcp_proxy, rt.block_on(net::TcpListener::bind("127.0.0.1:0")));
  auto exchange = [&]() -> Async<void> {
    auto client = co_await net::TcpStream::connect(proxied.address);
    auto server = co_await proxied.target.accept();
    co_await client.write_all("question");
    co_await client.shutdown();
    EXPECT_EQ(co_await server.stream.read_to_string(), "question");
    co_await server.stream.write_all("answer");
    co_await server.stream.shutdown();
    EXPECT_EQ(co_await client.read_to_string(), "answer");
  };
  run(exchange());
}

TEST_F(TcpProxy, OnCtrlCTakesNoMoreAndLetsThoseThatThereAreFinish) {
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  Proxied proxied(tcp_proxy, rt.block_on(net::TcpListener::bind("127.0.0.1:0")));
  Program& proxy = proxied.proxy;
  auto client = run(net::TcpStream::connect(proxied.address));
  auto server = run(proxied.target.accept());
  proxy.send_signal(SIGINT);
  EXPECT_EQ(proxy.line(), "stopping: 1 connections are open");

  auto come_late = [&]() -> Async<void> {
    const auto late = co_await net::TcpStream::connect(proxied.address).result();
    EXPECT_TRUE(!late && late.error() == std::errc::connection_refused);
  };
  run(come_late());
  auto finish = [&]() -> Async<void> {
    co_await client.write_all("last words");
    co_await client.shutdown();
    EXPECT_EQ(co_await server.stream.read_to_string(), "last words");
    co_await server.stream.shutdown();
  };
  run(finish());
  const Ended ended = proxy.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "passed on 1 connections, cut off 0\n");
}

TEST_F(TcpProxy, CutsOffAfterFiveSecondsWhoDoesNotFinish) {
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  Proxied proxied(tcp_proxy, rt.block_on(net::TcpListener::bind("127.0.0.1:0")));
  auto client = run(net::TcpStream::connect(proxied.address));
  auto server = run(proxied.target.accept());
  const auto start = std::chrono::steady_clock::now();
  proxied.proxy.send_signal(SIGINT);
  const Ended ended = proxied.proxy.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(4900));
  EXPECT_TRUE(ended.output.ends_with("passed on 1 connections, cut off 1\n")) << ended.output;
  EXPECT_EQ(run(client.read_to_string()), "");
}

TEST_F(TcpProxy, ATargetThatIsNotThereEndsTheConnectionOnly) {
  const std::string tcp_proxy = built_example("tcp_proxy");
  if (IsSkipped()) return;
  Program proxy({tcp_proxy, "127.0.0.1:0", text_of(free_port())});
  const net::SocketAddr at = proxy.listening_on();
  for (int i = 0; i < 2; ++i) {
    auto client = run(net::TcpStream::connect(at));
    EXPECT_EQ(run(client.read_to_string()), "");
  }
  proxy.send_signal(SIGINT);
  EXPECT_EQ(proxy.wait().status, 0);
}

}  // namespace
}  // namespace rouse::test
