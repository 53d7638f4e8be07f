// A UDP server that sends each datagram back to where it came from, until Ctrl-C.
// usage: udp_echo [ADDRESS]
#include <array>
#include <iostream>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

namespace {

rouse::Async<void> echo(rouse::net::UdpSocket socket) {
  std::array<char, 65536> buf;  // no datagram is larger
  for (;;) {
    // An error is that of one datagram, a sender that is gone for example; the socket goes on.
    const auto received = co_await socket.recv_from(buf).result();
    if (!received) continue;
    const auto& [size, from] = *received;
    (void)co_await socket.send_to({buf.data(), size}, from).result();
  }
}

rouse::Async<void> async_main(std::string address) {
  auto stop = rouse::signal::ctrl_c();
  auto socket = co_await rouse::net::UdpSocket::bind(address);
  std::cout << "listening on " << socket.local_addr() << '\n' << std::flush;
  co_await rouse::select(std::move(stop), echo(std::move(socket)));
  std::cout << "bye\n";
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:8080");
}
