// Tutorial, chapter 2: the echo server with a task for each client.
// usage: 02_clients [ADDRESS]
#include <array>
#include <cstddef>
#include <string>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"

rouse::Async<void> echo(rouse::net::TcpStream client) {
  std::array<char, 4096> buf;
  while (const std::size_t n = co_await client.read(buf)) {
    co_await client.write_all({buf.data(), n});
  }
}

// [main]
rouse::Async<void> async_main(std::string address) { co_await mini::listen(address, echo); }

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
// [/main]
