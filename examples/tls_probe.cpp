// How do these servers speak TLS, and to whom was their certificate given? Or why can't they be
// trusted. usage: tls_probe HOST:PORT...
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>
#include <rouse/tls.hpp>

rouse::Async<std::string> probe(rouse::tls::Connector connector, std::string server) try {
  auto socket = co_await rouse::net::TcpStream::connect(server);
  auto peer = co_await connector.connect(std::move(socket), server);
  const bool is_recent = peer.version() == rouse::tls::Version::tls_1_3;
  std::string said = is_recent ? "TLS 1.3, " : "TLS 1.2, ";
  said += std::string(peer.cipher()) + ", " + peer.peer_subject().value_or("nobody");
  if (!peer.protocol().empty()) said += ", " + std::string(peer.protocol());
  co_await peer.shutdown();
  co_return server + ": " + said;
} catch (const std::system_error& error) {
  co_return server + ": " + error.what();  // with what is wrong
}

rouse::Async<void> async_main(std::vector<std::string> servers) {
  const rouse::tls::Connector connector(rouse::tls::ClientConfig().alpn({"h2", "http/1.1"}));
  std::vector<rouse::Async<std::string>> probes;
  probes.reserve(servers.size());
  for (const std::string& server : servers) probes.push_back(probe(connector, server));
  for (const std::string& line : co_await rouse::join_all(std::move(probes))) {
    std::cout << line << '\n';
  }
}

int main(int argc, char** argv) {
  return rouse::run(async_main, std::vector<std::string>(argv + 1, argv + argc));
}
