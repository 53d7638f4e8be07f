// Tutorial, chapter 8: keys that end. Those that nobody asks for are swept out.
// usage: 08_expiry [ADDRESS]
#include <memory>
#include <string>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"
#include "mini/server.hpp"

// [main]
rouse::Async<void> async_main(std::string address) {
  auto shared = std::make_shared<mini::Shared>(mini::Limits());
  rouse::spawn(mini::sweep, shared).detach();
  co_await mini::listen(address, mini::serve<rouse::net::TcpStream>, shared);
}
// [/main]

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
