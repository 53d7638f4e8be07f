// A TCP server that sends back what it gets. usage: echo_server [ADDRESS]
#include <array>
#include <iostream>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

// [echo]
rouse::Async<void> serve(rouse::net::TcpStream peer) {
  std::array<char, 4096> buf;
  while (auto n = co_await peer.read(buf)) co_await peer.write_all({buf.data(), n});
}

rouse::Async<void> listen(std::string address) {
  auto listener = co_await rouse::net::TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  for (;;) {
    auto [peer, addr] = co_await listener.accept();
    rouse::spawn(serve, std::move(peer)).detach();
  }
}

int main(int argc, char** argv) {
  return rouse::run(listen, argc > 1 ? argv[1] : "127.0.0.1:8080");
}
// [/echo]
