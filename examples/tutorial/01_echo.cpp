// Tutorial, chapter 1: a server that sends back what it gets, to one client at a time.
// usage: 01_echo [ADDRESS]
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

// [echo]
rouse::Async<void> echo(rouse::net::TcpStream client) {
  std::array<char, 4096> buf;
  while (const std::size_t n = co_await client.read(buf)) {
    co_await client.write_all({buf.data(), n});
  }
}
// [/echo]

// [listen]
rouse::Async<void> async_main(std::string address) {
  auto listener = co_await rouse::net::TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  for (;;) {
    auto [client, peer] = co_await listener.accept();
    co_await echo(std::move(client));
  }
}

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
// [/listen]
