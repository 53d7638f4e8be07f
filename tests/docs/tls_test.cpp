// The code in docs/guide/18_tls.md.
#include <rouse/tls.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/io/buf_stream.hpp>
#include <rouse/rouse.hpp>

#include "support/certificates.hpp"

namespace tls_guide {

// [client]
rouse::Async<std::string> ask(rouse::tls::Connector connector, std::string server) {
  auto socket = co_await rouse::net::TcpStream::connect(server);  // "example.org:8443"
  auto peer = co_await connector.connect(std::move(socket), server);
  co_await peer.write_all("ann\n");
  co_await peer.flush();  // before waiting for the answer
  std::string answer;
  rouse::io::BufReader reader(peer);
  co_await reader.read_line(answer);
  co_await peer.shutdown();
  co_return answer;
}
// [/client]

// [server]
rouse::Async<> greet(rouse::tls::Acceptor acceptor, rouse::net::TcpStream socket) {
  auto peer = co_await acceptor.accept(std::move(socket)).result();  // the handshake: 10 s at most
  if (!peer) co_return;  // a scan of ports, a client that does not trust us
  rouse::io::BufStream stream(*std::move(peer));
  std::string name;
  while (co_await stream.read_line(name) != 0) {
    co_await stream.write_all("hello " + name);
    co_await stream.flush();
    name.clear();
  }
  co_await stream.shutdown();
}

rouse::Async<> serve(rouse::net::TcpListener listener, rouse::tls::Acceptor acceptor) {
  for (;;) {
    auto [socket, from] = co_await listener.accept();
    rouse::spawn(greet, acceptor, std::move(socket)).detach();
  }
}
// [/server]

// [config]
rouse::tls::ServerConfig server_config(const std::string& folder) {
  return rouse::tls::ServerConfig::pem(folder + "/cert.pem", folder + "/key.pem")
      .add_pem(folder + "/shop_cert.pem", folder + "/shop_key.pem")  // for another name
      .alpn({"h2", "http/1.1"});
}
// [/config]

// [mutual]
rouse::tls::ServerConfig for_known_clients(const std::string& folder) {
  return server_config(folder).client_ca(folder + "/clients_ca.pem").require_client_certificate();
}

rouse::tls::ClientConfig known_client(const std::string& folder) {
  return rouse::tls::ClientConfig()
      .trust_file(folder + "/our_ca.pem")  // instead of the system's authorities
      .certificate(folder + "/ann_cert.pem", folder + "/ann_key.pem");
}
// [/mutual]

// [reload]
rouse::Async<> follow_renewals(rouse::tls::Acceptor acceptor, std::string folder) {
  rouse::signal::Signal hangups(rouse::signal::Kind::hangup());
  for (;;) {
    co_await hangups.recv();
    acceptor.reload(server_config(folder));  // throws, and changes nothing, if a file is bad
  }
}
// [/reload]

// [errors]
rouse::Async<std::string> why_not(rouse::tls::Connector connector, rouse::net::TcpStream socket) {
  auto peer = co_await connector.connect(std::move(socket), "example.org").result();
  if (peer) co_return "it is good";
  if (peer.error() == rouse::tls::Error::certificate_expired) co_return "tell the administrator";
  if (peer.error() == std::errc::timed_out) co_return "try again";
  co_return peer.error().message();
}
// [/errors]

}  // namespace tls_guide

namespace {

using namespace rouse;
using rouse::test::Authority;
using rouse::test::For;

class TlsGuide : public ::testing::Test {
 protected:
  TlsGuide() {
    std::string name = (std::filesystem::temp_directory_path() / "rouse-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write("", authority_.issue(For("localhost")));
    write("shop_", authority_.issue(For("shop.test")));
    write("ann_", authority_.issue(For("ann")));
    std::ofstream(folder_ + "/our_ca.pem") << authority_.pem();
    std::ofstream(folder_ + "/clients_ca.pem") << authority_.pem();
  }
  ~TlsGuide() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const test::Issued& issued) const {
    std::ofstream(folder_ + "/" + name + "cert.pem") << issued.certificate;
    std::ofstream(folder_ + "/" + name + "key.pem") << issued.key;
  }
  [[nodiscard]] tls::Connector connector() const {
    return tls::Connector(tls_guide::known_client(folder_));
  }

  Authority authority_{"Test CA"};
  std::string folder_;
  Runtime runtime_ = Runtime::builder().worker_threads(2).build();
};

TEST_F(TlsGuide, AClientAsksAServer) {
  auto go = [&]() -> Async<> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const std::string port = std::to_string(listener.local_addr().port());
    const tls::Acceptor acceptor(tls_guide::for_known_clients(folder_));
    auto serving = spawn(tls_guide::serve, std::move(listener), acceptor);
    auto renewals = spawn(tls_guide::follow_renewals, acceptor, folder_);
    EXPECT_EQ(co_await tls_guide::ask(connector(), "localhost:" + port), "hello ann\n");
    auto socket = co_await net::TcpStream::connect("127.0.0.1:" + port);
    EXPECT_EQ(co_await tls_guide::why_not(connector(), std::move(socket)),
              "the peer's certificate is for another name");
    serving.abort();
    renewals.abort();
  };
  runtime_.block_on(go());
}

}  // namespace
